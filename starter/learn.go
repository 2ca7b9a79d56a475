package starter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/recorded"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
)

// learning is what `learn` prints.
type learning struct {
	TopicModel topic.Model      `json:"learned"`
	Definition crawl.Definition `json:"definition"` // with the suggestions
}

func learnCommand(g *globals) *cobra.Command {
	var from, file string
	cmd := &cobra.Command{
		Use:   "learn CRAWL | DEFINITION.yaml --from WEB",
		Short: "Show what a reference crawl learned of a topic, and write a definition with it",
		Long: `Show what a reference crawl learned of a topic: the terms, names and languages that distinguish its pages from others, and
their hosts; and write a definition with the suggestions, to be edited (--out).

CRAWL is a crawl whose reference crawl is over: crawls learn by themselves, and this command shows what one has learned. With
--from, the pages of an archive or of another recorded web replace the reference crawl. WEB is
` + recorded.Forms + `.`,
		Args: cli.ExactArgs(1, "the name of a crawl, or a definition and --from"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var out learning
			var err error
			if from != "" {
				out, err = learnFrom(args[0], from)
			} else if err = cli.CheckCrawl(args[0]); err == nil {
				out, err = g.learnOf(cmd.Context(), args[0])
			}
			if err != nil {
				return err
			}
			out.Definition.Topic = suggested(out.Definition.Topic, out.TopicModel)
			if file != "" {
				text, errText := briefYAML(out.Definition)
				if err = errText; err == nil {
					err = os.WriteFile(file, text, 0o644)
				}
			}
			return errors.Join(err, g.Print(out, func(w io.Writer) { // print it even if the file cannot be written: learning may have taken long
				writeTopicModel(w, out.TopicModel)
				if file != "" && err == nil {
					_, _ = fmt.Fprintf(w, "a definition with the suggestions is in %s: edit it\n", file)
				}
			}))
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "an archive, or another recorded web, whose pages are learned from")
	cmd.Flags().StringVar(&file, "out", "", "file for a definition with the suggestions, in YAML")
	g.remote(cmd)
	return cmd
}

// learnOf asks a crawl for what it has learned.
func (g *globals) learnOf(ctx context.Context, name string) (out learning, err error) {
	c, err := g.dial(ctx)
	if err != nil {
		return out, err
	}
	defer c.Close()
	s, err := status(ctx, c, name, queryTimeout)
	if err != nil {
		return out, err
	}
	if s.Crawl.TopicModel == nil {
		return out, fmt.Errorf("%s has learned nothing yet: it has no reference crawl, or its reference crawl is not over", name)
	}
	out.TopicModel = *s.Crawl.TopicModel
	if now, err := c.QueryWorkflow(ctx, s.Workflow, "", names.QueryDefinition); err == nil && now.Get(&out.Definition) == nil {
		return out, nil
	}
	out.Definition, err = definitionOf(ctx, c, s.Workflow) // as it was started, if no worker answers, or only one of an earlier version
	return out, err
}

// learnFrom learns from the pages of a recorded web, which it scores by a definition.
func learnFrom(definition, web string) (out learning, err error) {
	if out.Definition, err = cli.ReadDefinition(definition); err != nil {
		return out, err
	}
	if out.Definition.Topic.Empty() {
		return out, cli.Usage("%s has no topic: write topic.keywords, or name example pages", definition)
	}
	pages, err := recorded.Open(web)
	if err != nil {
		return out, cli.Usage("%w", err)
	}
	words := score.NewDictionary()
	memory := topic.Memory{DocumentFrequencies: topic.NewDocumentFrequencies(words.Vocabulary, nil)}
	scorer, err := score.New(out.Definition, nil, words, memory)
	if err != nil {
		return out, cli.Usage("%w", err)
	}
	var samples []topic.Sample
	for i := range pages.Pages {
		r := &pages.Pages[i]
		if r.Status != 200 || len(r.Body) == 0 {
			continue
		}
		d := page.Parse(page.Input{URL: r.URL, MIME: r.MIME, Body: r.Body}, page.DefaultLimits())
		scored := scorer.Page(&crawl.Parsed{Page: d.Page}, score.Context{Terms: true})
		memory.Observe(scored.Observation)
		if len(scored.Terms) > 0 {
			samples = append(samples, scorer.Sample(&d.Page, &scored.Verdict, scored.Terms))
		}
	}
	if len(samples) == 0 {
		return out, errors.New("no page of it has a text to learn from")
	}
	out.TopicModel = topic.Learn(samples).Brief()
	return out, nil
}

func writeTopicModel(w io.Writer, l topic.Model) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	list := func(title string, terms []text.Term, format string) {
		var parts []string
		for _, t := range terms {
			parts = append(parts, fmt.Sprintf(format, t.Text, t.Weight))
		}
		if len(parts) > 0 {
			line("  %-10s %s", title, strings.Join(parts, ", "))
		}
	}
	line("learned from the %d most relevant of %d pages", l.Relevant, l.Pages)
	list("topic", l.Terms, "%s %.2f")
	list("telling", l.Telling, "%s %.2f")
	list("names", l.Names, "%s (%.0f)")
	list("languages", l.Languages, "%s (%.0f)")
	list("hosts", l.Hosts, "%s (%.0f)")
	for _, url := range l.Examples {
		line("  page       %s", url)
	}
}

// suggested adds the suggestions of a model to a topic: words and names that distinguish its pages, and, if the topic has no
// languages, those of at least a tenth of the relevant pages.
func suggested(t crawl.Topic, l topic.Model) crawl.Topic {
	has := func(text string) bool {
		return slices.ContainsFunc(t.Keywords, func(k string) bool { return strings.EqualFold(k, text) }) ||
			slices.ContainsFunc(t.Entities, func(e crawl.Entity) bool { return strings.EqualFold(e.Name, text) })
	}
	t.Keywords, t.Entities, t.Languages = slices.Clone(t.Keywords), slices.Clone(t.Entities), slices.Clone(t.Languages)
	for _, term := range l.Telling {
		if !has(term.Text) {
			t.Keywords = append(t.Keywords, term.Text)
		}
	}
	for _, name := range l.Names {
		if !has(name.Text) {
			t.Entities = append(t.Entities, crawl.Entity{Name: name.Text})
		}
	}
	if len(t.Languages) == 0 {
		for _, lang := range l.Languages {
			if lang.Weight >= float64(l.Relevant)/10 {
				t.Languages = append(t.Languages, lang.Text)
			}
		}
	}
	return t
}

// briefYAML writes a definition in YAML, without fields that have their default.
func briefYAML(d crawl.Definition) ([]byte, error) {
	tree := func(d crawl.Definition) (t map[string]any, err error) {
		raw, err := json.Marshal(d)
		if err != nil {
			return nil, err
		}
		return t, json.Unmarshal(raw, &t)
	}
	all, err := tree(d)
	if err != nil {
		return nil, err
	}
	defaults, err := tree(crawl.DefaultDefinition())
	if err != nil {
		return nil, err
	}
	withoutCommon(all, defaults)
	var out bytes.Buffer
	out.WriteString("# With the suggestions of a reference crawl: see topic. Delete what does not belong to it.\n")
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	err = errors.Join(enc.Encode(all), enc.Close())
	return out.Bytes(), err
}

// withoutCommon deletes the fields of a tree that have the same value in another tree.
func withoutCommon(tree, other map[string]any) {
	for name, value := range tree {
		theirs, there := other[name]
		inner, isMap := value.(map[string]any)
		if theirInner, isTheirs := theirs.(map[string]any); isMap && isTheirs {
			if withoutCommon(inner, theirInner); len(inner) == 0 {
				delete(tree, name)
			}
			continue
		}
		if there && reflect.DeepEqual(value, theirs) {
			delete(tree, name)
		}
	}
}
