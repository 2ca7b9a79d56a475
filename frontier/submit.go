package frontier

import (
	"errors"
	"fmt"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Submission is a URL that somebody hands in while a crawl runs (paper §4.4, the scored-URL service). Without a path it is
// judged by the scope, with the path "S" it is a seed, which only the black list bounds.
type Submission struct {
	crawl.Discovery
	// Blacklisted says that the URL is never to be fetched, whatever links to it, in this run and in later ones.
	Blacklisted bool `json:"blacklisted,omitempty"`
	// Anchor is the text of the link, for those who read the crawl's history: the score is that of the submitter.
	Anchor string `json:"anchor,omitempty"`
}

// The answers to a submitted URL.
const (
	SubmitAccepted    = "accepted"
	SubmitKnown       = "known" // in this run; the score is taken nevertheless
	SubmitOutOfScope  = "out of scope"
	SubmitBlacklisted = "blacklisted"
	SubmitMalformed   = "malformed"
	SubmitRefused     = "refused" // no crawl asks this port
)

// SubmitAnswer says what became of a submitted URL.
type SubmitAnswer struct {
	URL    string `json:"url" cbor:"1,keyasint"` // as it was submitted, without user information
	Answer string `json:"answer" cbor:"2,keyasint"`
	Reason string `json:"reason,omitempty" cbor:"3,keyasint,omitempty"`
}

// Submit offers submitted URLs and returns what became of each, in their order. It is idempotent by id, answers included. Of a crawl that is
// spread, ErrElsewhere if one of them is in a partition that is not this worker's now: then none is taken.
func (h URLs) Submit(id string, list []Submission) (answers []SubmitAnswer, err error) {
	err = h.update(func(s *state, tx *transaction) (func(), error) {
		e := h.f.edit(tx, s)
		h.f.mu.Lock()
		bound := s.scope
		h.f.mu.Unlock()
		key := s.keys.Batch(id, "answers")
		answers = make([]SubmitAnswer, len(list))
		if there, err := tx.Load(key, &answers); there || err != nil {
			return nil, err
		}
		may := s.committable(h.f, nil)
		for i := range list {
			if answers[i], err = e.takeOne(bound, list[i], may); err != nil {
				return nil, err
			}
		}
		if err := errors.Join(e.sites.save(tx.Tx), tx.Save(key, answers)); err != nil {
			return nil, err
		}
		e.rec.Totals.Links += int64(len(list))
		return e.finish(s.keys.Batch(id, "end"), nil)
	})
	return answers, err
}

// Resubmit takes in again what was submitted to a run, in some partitions that are made again: what is blacklisted, and what is not known yet; of the present run also what only an earlier
// run knows, or was closed as a trap. What was submitted to an earlier run counts for that, as its segments do. It is idempotent by what is known, so the score of a submission is lost if the
// URL was known before it.
func (h URLs) Resubmit(run uint32, list []Submission, in func(Partition) bool) error {
	return h.update(func(s *state, tx *transaction) (func(), error) {
		e := h.f.edit(tx, s)
		h.f.mu.Lock()
		bound := s.scope
		h.f.mu.Unlock()
		present := e.rec.Run
		e.rec.Run = min(run, present)
		for i := range list {
			out, u := checkSubmission(list[i].URL)
			k := record.KeyOf(u)
			if out.Answer != "" || !in(store.PartitionOf(k.PLD)) {
				continue
			}
			r, found, err := e.Record(e.s.keys.Record(k))
			isNew := run >= present && (r.Run != run || r.State == record.Trapped) && r.State != record.Banned
			if err == nil && (list[i].Blacklisted || !found || isNew) {
				_, err = e.takeOne(bound, list[i], nil)
			}
			if err != nil {
				return nil, err
			}
		}
		e.rec.Run = present
		if err := e.sites.save(tx.Tx); err != nil {
			return nil, err
		}
		return e.finish(nil, nil)
	})
}

// CheckSubmission answers a submitted URL that no crawl can take; the answer is empty if one may.
func CheckSubmission(raw string) SubmitAnswer {
	out, _ := checkSubmission(raw)
	return out
}

func checkSubmission(raw string) (out SubmitAnswer, u urls.URL) {
	u, err := urls.ParseSeed(raw)
	var port *urls.PortError
	switch {
	case errors.As(err, &port):
		out.Answer = SubmitRefused
	case err != nil:
		out.Answer = SubmitMalformed
	}
	if out.URL = crawl.HideUser(raw); err != nil {
		out.Reason = err.Error()
	}
	return out, u
}

func (e *edit) takeOne(bound *scope.Scope, in Submission, may *committable) (SubmitAnswer, error) {
	out, u := checkSubmission(in.URL)
	if out.Answer != "" {
		return out, nil
	}
	if err := may.to(record.KeyOf(u).PLD); err != nil {
		return out, fmt.Errorf("%s: %w: %w", out.URL, ErrElsewhere, err)
	}
	in.URL = u.String()
	seed := in.Path == crawl.HopSeed.String()
	if out.Answer = SubmitBlacklisted; in.Blacklisted {
		return out, e.ban(u, in)
	}
	if bound.Blacklisted(u) {
		out.Reason = "the black list of the crawl's scope has " + u.Host() + " or its domain"
		return out, nil
	}
	if decision := bound.Check(linkOf(u, &in.Discovery)); !decision.InScope && !seed {
		out.Answer, out.Reason = SubmitOutOfScope, decision.Reason()
		return out, nil
	}
	r, found, err := e.Record(e.s.keys.Record(record.KeyOf(u)))
	if err != nil {
		return out, err
	}
	switch {
	case found && r.State == record.Banned:
		out.Reason = "it was submitted as blacklisted before"
		return out, nil
	case found && r.Run == e.rec.Run && r.State != record.Trapped:
		out.Answer, out.Reason = SubmitKnown, r.State.String()
	default:
		out.Answer = SubmitAccepted
	}
	if in.Path == "" {
		in.Path = crawl.HopSeed.String()
	}
	o := admit(bound, &in.Discovery, map[string]string{})
	o.links = []record.Link{{Score: in.Score, Features: in.LinkFeatures, Parts: in.Parts}}
	return out, e.offer(o)
}

// ban marks a URL that is never to be fetched: it leaves its queue, and a claim that has it leaves it out once its batch
// begins to fetch.
func (e *edit) ban(u urls.URL, in Submission) error {
	k := record.KeyOf(u)
	r, found, err := e.Record(e.s.keys.Record(k))
	if err != nil || found && r.State == record.Banned {
		return err
	}
	c, old := e.change(k.PLD), r
	c.name = u.PLD()
	r.Attempts = 0
	switch {
	case !found || r.State == record.Same:
		r = record.Record{URL: u.String(), Path: scope.Abbreviate(in.Path)}
	case r.State == record.Waiting:
		if err := e.Delete(e.s.keys.Entry(k.PLD, r.Position)); err != nil {
			return fmt.Errorf("write frontier: %w", err)
		}
		c.remove(r.Position)
		r.Attempts = record.Expected
	}
	r.State, r.Run = record.Banned, e.rec.Run
	e.recount(&old, &r)
	return e.Set(e.s.keys.Record(k), r.Encode())
}
