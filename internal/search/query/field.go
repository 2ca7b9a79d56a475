package query

import (
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/urls"
)

// name reads the name of a field and its colon, if they stand here. A word of letters before a colon that a blank follows is a word, if
// no field has its name, and so is what has another character than a letter before its colon, such as 12:30.
func (p *parser) name() (name string, ok bool) {
	end := p.at
	for end < len(p.s) && (p.s[end]|0x20 >= 'a' && p.s[end]|0x20 <= 'z') {
		end++
	}
	if end == p.at || end == len(p.s) || p.s[end] != ':' {
		return "", false
	}
	name = strings.ToLower(p.s[p.at:end])
	if !slices.Contains(Fields, Field(name)) && (end+1 == len(p.s) || strings.ContainsRune(" \t\r\n)", rune(p.s[end+1]))) {
		return "", false
	}
	p.at = end + 1
	return name, true
}

// field reads the value of a field. begin is the byte at which its name begins.
func (p *parser) field(name string, begin int) (Node, error) {
	f := Field(name)
	if !slices.Contains(Fields, f) {
		if strings.HasPrefix(p.s[p.at:], "//") {
			return nil, p.fault(begin, "a URL is no word: ask for host: or site: with its name, or put it in quotation marks")
		}
		return nil, p.fault(begin, "there is no field %s: use %s, or put the words in quotation marks", name, listed())
	}
	at := p.at
	value, quoted, err := p.quoted()
	if err != nil {
		return nil, err
	}
	if !quoted {
		value = p.bare()
	}
	p.terms++
	if value = strings.TrimSpace(value); value == "" {
		return nil, p.fault(at, "%s: has no value: write one without a blank after the colon, such as %s:%s", name, name, examples[f])
	}
	switch f {
	case Date, Score, Status:
		r, message := interval(f, value)
		if message != "" {
			return nil, p.fault(at, "%s", message)
		}
		return r, nil
	}
	value, message := normal(f, value)
	if message != "" {
		return nil, p.fault(at, "%s", message)
	}
	return Is{f, value}, nil
}

// examples are values that messages show.
var examples = map[Field]string{
	Site: "example.org", Host: "www.example.org", Crawl: "elections", Lang: "en", Type: "post", App: "phpbb", Level: "thread",
	Author: `"Jane Doe"`, Date: "2025..2026", Score: ">0.5", Status: "404",
}

func listed() string {
	var b strings.Builder
	for i, f := range Fields {
		switch {
		case i == len(Fields)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(f) + ":")
	}
	return b.String()
}

// normal brings a value into the form that documents have it in. The message says what is wrong with it.
func normal(f Field, value string) (normal, message string) {
	switch f {
	case Crawl:
		return value, ""
	case Site, Host:
		u, err := urls.Parse("http://" + strings.TrimSuffix(value, ".") + "/")
		port := strings.Contains(value, ":") && !strings.HasSuffix(value, "]") // an IPv6 address stands in brackets
		if err != nil || port || u.RequestURI() != "/" || strings.ContainsAny(value, "/?#@*") {
			return "", string(f) + ": takes the name of a " + map[Field]string{Site: "domain", Host: "host"}[f] + ", such as " + string(f) + ":" + examples[f]
		}
		if f == Site && u.PLD() != u.Host() {
			return "", "site: takes the name of a domain with all its hosts: write site:" + u.PLD() + ", or host:" + u.Host()
		}
		return u.Host(), ""
	case Lang:
		if value = Language(value); len(value) != 2 && len(value) != 3 || strings.Trim(value, "abcdefghijklmnopqrstuvwxyz") != "" { // ISO 639-1, or 639-3
			return "", "lang: takes the code of a language, such as lang:" + examples[f]
		}
		return value, ""
	case Author:
		if len(names(value)) == 0 {
			return "", "author: takes words of a name, such as author:" + examples[f]
		}
		return value, ""
	}
	return strings.ToLower(value), ""
}

// Language is the form in which documents have a language: the first part of its tag (BCP 47), in lower case.
func Language(tag string) string {
	code, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
	return code
}
