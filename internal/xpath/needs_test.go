package xpath

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestNeeds(t *testing.T) {
	for source, want := range map[string]string{
		"//a":                                  "",
		"//a[@rel='author']":                   "[author]",
		"//a['author' = @rel]":                 "[author]",
		"//a[@rel='no']":                       "", // too short
		"//a[contains(@href, '/wp-content/')]": "[/wp-content/]",
		"//a[contains('/wp-content/', @href)]": "", // which may be "wp"
		"//a[starts-with('author', @rel)]":     "",
		"//a[starts-with(@href, 'https://example.org')][ends-with(@href, '.xhtml')]": "[https://example.org] [.xhtml]",
		"//a[contains(@href, '?a=1&page=2')]":                                        "[page=2]",
		"//a[contains(@title, 'läuft weiter')]":                                      "[weiter]",
		"//a[contains(@title, \"don't\")]":                                           "",
		"//*[has-class('postbox', 'entry-title')]":                                   "[postbox] [entry-title]",
		"//*[contains(concat(' ', @class, ' '), ' postbox ')]":                       "[postbox]",
		"//*[contains(@class, 'postbox') or @id = 'mainbox']":                        "[postbox mainbox]",
		"//*[contains(@class, 'postbox') or @id]":                                    "",
		"//*[has-class('postbox')] | //*[@id='mainbox']":                             "[postbox mainbox]",
		"//*[has-class('postbox')] | //p":                                            "",
		"(//*[@id='mainbox'])[has-class('postbox')]/a":                               "[mainbox] [postbox]",
		"//*[@id='mainbox' and has-class('postbox')]":                                "[mainbox] [postbox]",
		"//*[(@id='mainbox' and has-class('page-body')) or @rel='bookmark']":         "[page-body bookmark]",
		"//div[.//a[@rel='author']]":                                                 "[author]",
		"//div[not(.//a[@rel='author'])]":                                            "",
		"//div[boolean(.//a[@rel='author'])]":                                        "[author]",
		"//div[count(.//a[@rel='author']) = 0]":                                      "",
		"//div[.//a[@rel='author'] = false()]":                                       "",
		"//div[.//a[@rel='author'] = true()]":                                        "",
		"//div[.//a[@rel='author'] < true()]":                                        "",
		"//div[has-class('postbox') = false()]":                                      "",
		"//div[contains(@id, 'mainbox') != true()]":                                  "",
		"//div[(@id = 'mainbox') = 0]":                                               "",
		"//div[.//a[@rel='author'] = 'Ann Example']":                                 "[author]",
		"//div[.//a[@rel='author'] != 'Ann']":                                        "[author]",
		"//div[3 < .//a[@rel='author']]":                                             "[author]",
		"//div[.//a[@rel='author'] = .//b[@id='byline']]":                            "[author] [byline]",
		"//div[.//a[@rel='author'] + 1]":                                             "",
		"//a[@rel != 'author']":                                                      "",
		"//p[. = 'hello world']":                                                     "", // tags may stand in a word
		"//p[contains(., 'welcome')]":                                                "",
		"//p[text() = 'hello worlds']":                                               "[worlds]",
		"//p[contains(text(), 'welcome')]":                                           "[welcome]",
		"//text()[contains(../@class, 'welcome')]":                                   "[welcome]",
		"//p[comment() = 'welcome']":                                                 "[welcome]",
		"//p[normalize-space(@title) = 'posted by']":                                 "[posted]",
		"//p[normalize-space() = 'posted by']":                                       "",
		"//p[normalize-space('posted') = 'posted']":                                  "",
		"//p[string(@title) = 'posted']":                                             "[posted]",
		"//p[string(12345) = '12345']":                                               "",
		"//p[substring-after(@title, ': ') = 'posted']":                              "[posted]",
		"//p[contains(substring-before(., 'x'), 'posted')]":                          "",
		"//p[lower-case(@title) = 'posted']":                                         "",
		"//p[translate(@title, 'P', 'p') = 'posted']":                                "",
		"//p[concat(@title, 'ed') = 'posted']":                                       "",
		"//p[name() = 'blockquote']":                                                 "",
		"//p[(@id | @title) = 'posted']":                                             "[posted]",
		"//p[(@id | b) = 'posted']":                                                  "",
		"//p[matches(@title, 'posted')]":                                             "",
		"//p['posted']":                                                              "",
		"count(//p[@id='mainbox']) > 0":                                              "",
		"//p[-//a[@id='mainbox']]":                                                   "",
	} {
		got := strings.Trim(fmt.Sprint(parsed(t, source).Needs()), "[]")
		if got != strings.Trim(want, "[]") {
			t.Errorf("%s needs [%s], not %s", source, got, want)
		}
	}
}

// checkNeeds fails if an expression selects something although the page lacks the words that it needs.
func checkNeeds(t *testing.T, e *Eval, x *Expr, source string) {
	t.Helper()
	if _, found, err := e.First(x, e.Tree.Root()); err != nil || !found {
		return
	}
	for _, list := range x.Needs() {
		if !slices.ContainsFunc(list, func(w string) bool { return strings.Contains(source, w) }) {
			t.Errorf("%s selects something though none of %q stands in the page", x, list)
		}
	}
}

func TestWordsThatTagsOrReferencesCut(t *testing.T) {
	const source = `<p title="Fish &amp; chips" id='say "hello"'>he<b>llo</b> wor<!-- -->ld posted&nbsp;by</p><a href="?a=1&amp;page=2">x`
	root := page(t, source)
	for _, x := range []string{
		"//p[. = 'hello world posted\u00a0by']", "//p[contains(., 'hello')]", "//p[starts-with(., 'hello')]",
		"//p[contains(normalize-space(.), 'world')]", "//p[text() = 'he']", "//p[@title = 'Fish & chips']",
		"//p[contains(@title, 'Fish &')]", "//p[@id = 'say \"hello\"']", "//a[contains(@href, 'a=1&page=2')]",
		"//p[b = 'llo']", "//p[not(b = 'nothing')]", "//p[b[@id = 'nothing'] = false()]", "//p[contains('xhellox', 'hello')]",
		"//p[contains('llohello', b)]", "//p[string(b[@id='nothing']) = '']",
	} {
		e := NewEval(root, DefaultBudget)
		if _, found, _ := e.First(parsed(t, x), e.Tree.Root()); !found {
			t.Errorf("%s selects nothing", x)
		}
		checkNeeds(t, e, parsed(t, x), source)
		e.Free()
	}
}

func TestWhatSelectsStandsInThePage(t *testing.T) {
	for seed := range uint64(500) {
		m := newMaker(seed)
		root := m.page()
		var source strings.Builder
		if err := html.Render(&source, root); err != nil {
			t.Fatal(err)
		}
		e := NewEval(root, DefaultBudget)
		for range 20 {
			e.Budget = DefaultBudget
			checkNeeds(t, e, parsed(t, m.expression()), source.String())
		}
		e.Free()
	}
}
