package starter

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// kbCommand groups the verbs about the knowledge base.
func kbCommand(g *globals) *cobra.Command {
	var dir string
	cmd := cli.Group(&cobra.Command{
		Use:   "kb",
		Short: "Check, test and list the rules that recognise web applications",
		Long: `Check, test and list the rules that recognise web applications.

The knowledge base is a folder of XML files; without --kb, the built-in one is used.`,
	})
	cmd.PersistentFlags().StringVar(&dir, "kb", "", "folder of the knowledge base")
	cmd.AddCommand(kbCheck(g, &dir), kbTest(g, &dir), kbList(g, &dir), kbExport(g))
	return cmd
}

func kbCheck(g *globals, dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check all files: syntax, expressions, rules that can never match, and examples",
		Args:  cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			base, err := cli.OpenBase(*dir)
			if err != nil {
				return err
			}
			faults := aah.Examples(base)
			faults = append(faults, base.Unreachable()...)
			if len(faults) > 0 {
				return cli.Usage("the knowledge base has %s:\n%w", cli.Count(len(faults), "fault"), kb.Faults(faults))
			}
			examples := 0
			for _, a := range base.Applications {
				examples += len(a.Examples)
			}
			fmt.Fprintf(g.Out, "the knowledge base %s has no faults: %s, %s, %d examples pass\n", base.ID,
				cli.Count(len(base.Applications), "application"), cli.Count(base.Marks.Len(), "mark"), examples)
			for _, m := range base.Marks.Unbound() {
				fmt.Fprintf(g.Out, "note: %s: this mark of %s is evaluated on every page, which is slow: give it a text of %d letters that occurs in each page of the application (%d in a URL, a header or a generator)\n",
					m.Condition.Rule, m.Application.Name, xpath.MinWord, kb.MinWord)
			}
			return nil
		},
	}
}

func kbList(g *globals, dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the applications with their versions and levels",
		Args:  cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			base, err := cli.OpenBase(*dir)
			if err != nil {
				return err
			}
			if g.JSON {
				return g.Print(listOf(base), nil)
			}
			w := tabwriter.NewWriter(g.Out, 0, 8, 2, ' ', 0)
			fmt.Fprintln(w, "CATEGORY\tAPPLICATION\tVERSIONS\tMARKS\tTERMINAL LEVELS\tOTHER LEVELS")
			apps := slices.Clone(base.Applications)
			slices.SortStableFunc(apps, func(a, b *kb.Application) int { return strings.Compare(a.Category, b.Category) })
			for _, a := range apps {
				versions, marks := []string{}, len(a.Detect)
				for _, v := range a.Versions {
					versions, marks = append(versions, v.Name), marks+len(v.Detect)
				}
				var terminal, others []string
				for _, l := range base.Profile(a, "", "").Levels {
					if l.Terminal {
						terminal = append(terminal, l.Name)
					} else {
						others = append(others, l.Name)
					}
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", a.Category, a.Name, strings.Join(versions, ", "), marks, strings.Join(terminal, ", "), strings.Join(others, ", "))
			}
			return w.Flush()
		},
	}
}

// listOf is what list tells machines.
func listOf(base *kb.Base) any {
	type level struct {
		Name     string `json:"name"`
		Terminal bool   `json:"terminal"`
	}
	type application struct {
		Name     string   `json:"name"`
		Category string   `json:"category"`
		File     string   `json:"file"`
		Versions []string `json:"versions"`
		Levels   []level  `json:"levels"`
	}
	list := struct {
		ID           string        `json:"id"`
		Applications []application `json:"applications"`
	}{ID: base.ID}
	for _, a := range base.Applications {
		one := application{Name: a.Name, Category: a.Category, File: a.File, Versions: []string{}}
		for _, v := range a.Versions {
			one.Versions = append(one.Versions, v.Name)
		}
		for _, l := range base.Profile(a, "", "").Levels {
			one.Levels = append(one.Levels, level{l.Name, l.Terminal})
		}
		list.Applications = append(list.Applications, one)
	}
	return list
}

func kbExport(g *globals) *cobra.Command {
	var learned string
	cmd := &cobra.Command{
		Use:   "export DIR",
		Short: "Write the built-in knowledge base, or the rules that a worker has learned, into a folder",
		Long: `Write the built-in knowledge base into a folder, to change it there; or, with --learned, the rules that a worker has
learned for sites whose templates the base does not match: a file for each site in DIR/sites, with the evidence as comments,
to review and to put into a base. The worker stores them in the folder "learned" of its data folder.`,
		Args: cli.ExactArgs(1, "one folder to write into"),
		RunE: func(_ *cobra.Command, args []string) error {
			if learned != "" {
				return exportLearned(g.Out, learned, args[0])
			}
			if entries, err := os.ReadDir(args[0]); err == nil && len(entries) > 0 {
				return cli.Usage("%s is not empty", args[0])
			}
			if err := os.CopyFS(args[0], kb.Files()); err != nil {
				return err
			}
			fmt.Fprintf(g.Out, "the knowledge base is in %s; use it with --kb %s\n", args[0], args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&learned, "learned", "", "folder of a worker's learned rules (DATA/learned)")
	return cmd
}

// exportLearned writes the rules in force of each site.
func exportLearned(out io.Writer, from, to string) error {
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return cli.Usage("--learned: there is no folder %s", from)
	}
	store, err := adapt.OpenStore(from)
	if err != nil {
		return err
	}
	dir, sites := filepath.Join(to, "sites"), 0
	bad, err := store.Sites(func(s *adapt.Site) error {
		if !s.InForce() {
			return nil
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		sites++
		for _, app := range s.Applications() {
			var b bytes.Buffer
			if err := s.WriteXML(&b, app, kb.Namespace, extract.ValueType); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, s.File(app)+".xml"), b.Bytes(), 0o644); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range bad {
		fmt.Fprintf(out, "%s cannot be read and is left out\n", name)
	}
	fmt.Fprintf(out, "rules of %s are in %s\n", cli.Count(sites, "site"), dir)
	return nil
}

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
			var told []linkRule
			start := time.Now()
			aah.New(base, aah.DefaultLimits()).Apply(d, aah.Input{Head: head, Mode: mode, Trace: func(url, becomes, rule string) {
				told = append(told, linkRule{url, becomes, rule})
			}})
			took := time.Since(start)
			if g.JSON {
				d.Blocks = nil
			}
			return g.Print(d.Page, func(out io.Writer) { tellPage(out, d, told, took, full) })
		},
	}
	cmd.Flags().StringVar(&as, "url", "", "URL of a FILE")
	cmd.Flags().StringVar(&mode, "helper", crawl.HelperLenient, "how link rules are applied: strict, lenient or off")
	cmd.Flags().BoolVar(&full, "full", false, "full texts and all links")
	return cmd
}

// maxTest bounds a page that is tried, in bytes.
const maxTest = 16 << 20

// readPage reads a file, or fetches a URL: one request that the user asked for by hand.
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

// linkRule is what became of a link, and by which rule.
type linkRule struct{ url, becomes, rule string }

func tellPage(out io.Writer, d *page.Document, told []linkRule, took time.Duration, full bool) {
	none := func(s string) string {
		if s == "" {
			return "none"
		}
		return s
	}
	fmt.Fprintf(out, "application  %s %s (confidence %.2f, by %s)\n", none(d.Application), d.Version, d.Confidence, none(d.Rule))
	kind := "intermediate"
	if d.Terminal {
		kind = "terminal"
	}
	fmt.Fprintf(out, "level        %s, %s (by %s)\n", none(d.Level), kind, none(d.LevelRule))
	fmt.Fprintf(out, "objects      %d\n", len(d.Objects))
	for _, o := range d.Objects {
		fmt.Fprintf(out, "  %s (by %s)\n", o.Type, o.Rule)
		if full {
			_ = extract.Fill(d, &o) // the markup; it is the page that the objects are of
		}
		for _, p := range o.Properties {
			if full || p.Name != crawl.Markup {
				fmt.Fprintf(out, "    %-10s %s\n", p.Name, short(p.Value, full))
			}
		}
	}
	wants := map[string]string{}
	var dropped, rewritten []string
	for _, l := range told {
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
		case l.Prior > aah.Lowered:
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
