package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// maxAnchor is the greatest length of an anchor, in bytes, and maxFaults how many faults of a list are listed.
const maxAnchor, maxFaults = 1000, 50

// entry is a URL as callers write it.
type entry struct {
	URL         string   `json:"url"`
	Score       *float64 `json:"score"` // in [0,1]; needed unless the URL is blacklisted
	Blacklisted bool     `json:"blacklisted"`
	Via         string   `json:"via"`    // the page that links to it
	Anchor      string   `json:"anchor"` // the text of that link
}

// read reads the list of a request. All that is wrong with it is listed, and then nothing of it is taken.
func (s *Service) read(w http.ResponseWriter, r *http.Request) (body []byte, list []frontier.Submission, err error) {
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, s.limits.BodyBytes))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, nil, refuse(http.StatusRequestEntityTooLarge, "the body has more than %s: split the list", crawl.Bytes(s.limits.BodyBytes))
	case err != nil:
		return nil, nil, refuse(http.StatusBadRequest, "the body cannot be read: %v", err)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, nil, refuse(http.StatusBadRequest, `the body must be a list in JSON, such as [{"url": "https://example.org/x", "score": 0.9}]: %v`, err)
	}
	switch {
	case len(raw) == 0:
		return nil, nil, refuse(http.StatusBadRequest, "the list is empty")
	case len(raw) > s.limits.URLs:
		return nil, nil, refuse(http.StatusRequestEntityTooLarge, "the list has %d URLs, at most %d are allowed: split it", len(raw), s.limits.URLs)
	}
	var faults crawl.Faults
	list = make([]frontier.Submission, len(raw))
	for i, text := range raw {
		var fault *crawl.Fault
		if list[i], fault = ReadEntry(text); fault != nil {
			fault.Path = fmt.Sprintf("[%d]%s", i, fault.Path)
			if faults = append(faults, *fault); len(faults) == maxFaults {
				break
			}
		}
	}
	if len(faults) > 0 {
		return nil, nil, &refusal{http.StatusBadRequest, "the list has faults; nothing of it is taken: " + faults.Error(), faults}
	}
	return body, list, nil
}

// ReadEntry reads a URL with its score as lists have it; the path of a fault begins with the field.
func ReadEntry(text []byte) (out frontier.Submission, fault *crawl.Fault) {
	var e entry
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		var wrong *json.UnmarshalTypeError
		field, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
		switch {
		case errors.As(err, &wrong) && wrong.Field != "":
			return out, &crawl.Fault{Path: "." + wrong.Field, Message: "is a " + wrong.Value}
		case unknown:
			return out, &crawl.Fault{Path: "." + strings.Trim(field, `"`), Message: "is not known; known: url, score, blacklisted, via, anchor"}
		}
		return out, &crawl.Fault{Message: "must be a mapping with url and score"}
	}
	switch {
	case e.URL == "":
		return out, &crawl.Fault{Path: ".url", Message: "is missing"}
	case e.Score == nil && !e.Blacklisted:
		return out, &crawl.Fault{Path: ".score", Message: "is missing: give a number from 0 to 1, or \"blacklisted\": true"}
	case e.Score != nil && !(*e.Score >= 0 && *e.Score <= 1):
		return out, &crawl.Fault{Path: ".score", Message: fmt.Sprintf("is %v, must be from 0 to 1", *e.Score)}
	case crawl.HasUser(e.Via):
		return out, &crawl.Fault{Path: ".via", Message: "has a user name before the host: leave user and password out"}
	case len(e.Anchor) > maxAnchor:
		return out, &crawl.Fault{Path: ".anchor", Message: fmt.Sprintf("has %d bytes, at most %d are allowed", len(e.Anchor), maxAnchor)}
	}
	if e.Via != "" {
		via, err := urls.Parse(e.Via)
		if err != nil {
			return out, &crawl.Fault{Path: ".via", Message: "is not a URL: " + err.Error()}
		}
		out.Via = via.String()
	}
	out.URL, out.Anchor, out.Blacklisted = e.URL, e.Anchor, e.Blacklisted
	if e.Score != nil {
		out.Score = *e.Score
	}
	return out, nil
}
