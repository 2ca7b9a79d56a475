package starter

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/page"
)

func kbTest(g *globals, dir *string) *cobra.Command {
	var as, mode string
	var full bool
	cmd := &cobra.Command{
		Use:   "test URL|FILE",
		Short: "Show what the helper recognises and extracts on a page, and by which rules",
		Long: `Show what the helper recognises and extracts on a page, and by which rules.

A FILE is HTML as a browser saves it; --url gives its URL, which many rules use.`,
		Args: cli.ExactArgs(1, "one URL or file"),
		RunE: func(_ *cobra.Command, args []string) error {
			base, err := cli.OpenBase(*dir)
			if err != nil {
				return err
			}
			if !slices.Contains(crawl.HelperModes, mode) {
				return cli.Usage("--helper is %q, must be strict, lenient or off", mode)
			}
			body, head, mime, err := readPage(args[0], &as)
			if err != nil {
				return err
			}
			d := page.Parse(page.Input{URL: as, MIME: mime, Body: body}, page.DefaultLimits())
			var links []linkRule
			start := time.Now()
			found := aah.New(base, aah.DefaultLimits()).Apply(d, aah.Input{Head: head, Mode: mode, Trace: func(url, becomes, rule string) {
				links = append(links, linkRule{url, becomes, rule})
			}})
			took := time.Since(start)
			return g.Print(pageAsJSON(&d.Page, found), func(out io.Writer) { printPage(out, d, &found, links, took, full) })
		},
	}
	cmd.Flags().StringVar(&as, "url", "", "URL of a FILE")
	cmd.Flags().StringVar(&mode, "helper", crawl.HelperLenient, "how link rules are applied: strict, lenient or off")
	cmd.Flags().BoolVar(&full, "full", false, "full texts and all links")
	return cmd
}

// maxTest bounds the page of `kb test`, in bytes.
const maxTest = 16 << 20

// readPage reads a file, or fetches a URL with one request, without robots.txt: the user asks for this page by hand.
func readPage(what string, as *string) (body, head []byte, mime string, err error) {
	if !strings.HasPrefix(what, "http://") && !strings.HasPrefix(what, "https://") {
		if body, err = os.ReadFile(what); err != nil {
			return nil, nil, "", cli.Usage("%q is neither a URL (http://…, https://…) nor a file: %w", what, err)
		}
		if *as == "" {
			*as = "http://file.invalid/" + filepath.Base(what)
		}
		return body, nil, "text/html", nil
	}
	client := http.Client{Timeout: time.Minute}
	req, err := http.NewRequest(http.MethodGet, what, nil)
	if err != nil {
		return nil, nil, "", cli.Usage("%w", err)
	}
	req.Header.Set("User-Agent", crawl.DefaultDefinition().Politeness.UserAgent)
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if body, err = io.ReadAll(io.LimitReader(resp.Body, maxTest)); err != nil {
		return nil, nil, "", err
	}
	if *as == "" {
		*as = resp.Request.URL.String()
	}
	var lines strings.Builder
	if err := resp.Header.Write(&lines); err != nil {
		return nil, nil, "", err
	}
	return body, []byte(lines.String()), resp.Header.Get("Content-Type"), nil
}

// pageAsJSON is a page in the JSON form of a judged one, without text blocks. It was not judged: its score is −1, and its links have
// the score 0.
func pageAsJSON(p *crawl.Page, found crawl.Findings) any {
	type link struct {
		crawl.Outlink
		crawl.LinkVerdict
	}
	var out struct {
		URL         string `json:"url"`
		Status      int    `json:"status"`
		MIME        string `json:"mime,omitempty"`
		Charset     string `json:"charset,omitempty"`
		Title       string `json:"title,omitempty"`
		Language    string `json:"language,omitempty"`
		Description string `json:"description,omitempty"`
		Generator   string `json:"generator,omitempty"`
		Canonical   string `json:"canonical,omitempty"`
		Links       []link `json:"links,omitempty"`
		LinksCut    int    `json:"links_cut,omitempty"`
		NoIndex     bool   `json:"noindex,omitempty"`
		NoFollow    bool   `json:"nofollow,omitempty"`
		crawl.Findings
		Score float64 `json:"score"`
	}
	out.URL, out.Status, out.MIME, out.Charset, out.Title, out.Language = p.URL, p.Status, p.MIME, p.Charset, p.Title, p.Language
	out.Description, out.Generator, out.Canonical = p.Description, p.Generator, p.Canonical
	for _, l := range p.Links {
		out.Links = append(out.Links, link{Outlink: l})
	}
	out.LinksCut, out.NoIndex, out.NoFollow, out.Findings, out.Score = p.LinksCut, p.NoIndex, p.NoFollow, found, -1
	return out
}

// linkRule is a link that a rule changed: its new URL, or that it is dropped, and the rule.
type linkRule struct{ url, becomes, rule string }

func printPage(out io.Writer, d *page.Document, found *crawl.Findings, links []linkRule, took time.Duration, full bool) {
	none := func(s string) string {
		if s == "" {
			return "none"
		}
		return s
	}
	fmt.Fprintf(out, "application  %s %s (confidence %.2f, by %s)\n", none(found.Application), found.Version, found.Confidence, none(found.Rule))
	kind := "intermediate"
	if found.Terminal {
		kind = "terminal"
	}
	fmt.Fprintf(out, "level        %s, %s (by %s)\n", none(found.Level), kind, none(found.LevelRule))
	fmt.Fprintf(out, "objects      %d\n", len(found.Objects))
	for _, o := range found.Objects {
		fmt.Fprintf(out, "  %s (by %s)\n", o.Type, o.Rule)
		if full {
			_ = extract.Fill(d, &o) // adds the markup; it cannot fail, because d is the page of the objects
		}
		for _, p := range o.Properties {
			if full || p.Name != crawl.Markup {
				fmt.Fprintf(out, "    %-10s %s\n", p.Name, short(p.Value, full))
			}
		}
	}
	wants := map[string]string{}
	var dropped, rewritten []string
	for _, l := range links {
		switch l.becomes {
		case "":
			dropped = append(dropped, fmt.Sprintf("%s (by %s)", l.url, l.rule))
		case l.url:
			wants[l.url] = l.rule
		default:
			rewritten = append(rewritten, fmt.Sprintf("%s to %s (by %s)", l.url, l.becomes, l.rule))
		}
	}
	var wanted []string
	others := 0
	for _, l := range d.Links {
		switch {
		case l.Hop != crawl.HopLink && l.Hop != crawl.HopPaging:
		case l.Prior > aah.LoweredPriority:
			wanted = append(wanted, fmt.Sprintf("%.2f %-16s %c %s (by %s)", l.Prior, l.Level, l.Hop, l.URL, wants[l.URL]))
		default:
			others++
		}
	}
	fmt.Fprintf(out, "links        %d wanted, %d others, %d rewritten, %d dropped\n", len(wanted), others, len(rewritten), len(dropped))
	some := func(what string, list []string) {
		for i, text := range list {
			if i == 10 && !full {
				fmt.Fprintln(out, "  … (all with --full)")
				return
			}
			fmt.Fprintln(out, " ", what, text)
		}
	}
	some("wanted", wanted)
	some("rewritten", rewritten)
	some("dropped", dropped)
	fmt.Fprintf(out, "took         %s\n", took.Round(time.Microsecond))
}

func short(s string, full bool) string {
	if r := []rune(s); !full && len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}
