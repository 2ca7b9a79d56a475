package chart_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/chart"
)

// drawing is what is read of an SVG.
type drawing struct {
	texts    []string // that stand in it
	elements map[string]int
	paths    []string // that are drawn, not filled
	names    map[string]bool
}

// read reads an SVG strictly: it must be one element, with nothing around it.
func read(t *testing.T, svg string) drawing {
	t.Helper()
	d := drawing{elements: map[string]int{}, names: map[string]bool{}}
	dec := xml.NewDecoder(strings.NewReader(svg))
	depth, roots, text := 0, 0, ""
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v:\n%.2000s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth++; depth == 1 {
				roots++
				if token.Name.Local != "svg" || token.Name.Space != "http://www.w3.org/2000/svg" {
					t.Errorf("the root is %v", token.Name)
				}
			}
			d.elements[token.Name.Local]++
			text = ""
			for _, a := range token.Attr {
				d.names[a.Name.Local] = true
				if a.Name.Local == "d" {
					d.paths = append(d.paths, a.Value)
				}
			}
		case xml.EndElement:
			if depth--; token.Name.Local == "text" {
				d.texts = append(d.texts, text)
			}
		case xml.CharData:
			text += string(token)
			if depth == 0 && strings.TrimSpace(string(token)) != "" {
				t.Errorf("%q stands outside", token)
			}
		case xml.ProcInst, xml.Directive:
			t.Errorf("%v cannot stand in a page", token)
		}
	}
	if depth != 0 || roots != 1 {
		t.Errorf("%d elements at the top, %d open at the end", roots, depth)
	}
	for _, bad := range []string{"NaN", "Inf", "%!"} {
		if strings.Contains(svg, bad) {
			t.Errorf("%s stands in\n%.2000s", bad, svg)
		}
	}
	return d
}

var number = regexp.MustCompile(`-?[0-9.]+(e[-+]?[0-9]+)?`)

// curve is the longest path, as points.
func (d drawing) curve() (x, y []float64) {
	for _, path := range d.paths {
		var px, py []float64
		for i, text := range number.FindAllString(path, -1) {
			v, _ := strconv.ParseFloat(text, 64)
			if i%2 == 0 {
				px = append(px, v)
			} else {
				py = append(py, v)
			}
		}
		if len(px) > len(x) {
			x, y = px, py
		}
	}
	return x, y
}

func TestLines(t *testing.T) {
	const n = 40
	up, down := chart.Curve{Name: "up", Strong: true}, chart.Curve{Name: "down"}
	for i := range n {
		up.X, up.Y = append(up.X, float64(i)), append(up.Y, float64(i*i))
		down.X, down.Y = append(down.X, float64(i)), append(down.Y, float64(n-i)/2)
	}
	svg, err := chart.Lines(chart.Axes{Title: "two curves", X: "pages", Y: "share"}, []chart.Curve{up, down})
	if err != nil {
		t.Fatal(err)
	}
	d := read(t, string(svg))
	for _, text := range []string{"two curves", "pages", "share", "up", "down"} {
		if !slices.Contains(d.texts, text) {
			t.Errorf("%q is not written: %q", text, d.texts)
		}
	}
	long := 0
	for _, path := range d.paths {
		if len(number.FindAllString(path, -1)) == 2*n {
			long++
		}
	}
	if long != 2 {
		t.Errorf("%d curves of %d points are drawn:\n%s", long, n, strings.Join(d.paths, "\n"))
	}
	x, y := d.curve() // the y axis of the drawing goes up
	if !slices.IsSorted(x) || !slices.IsSorted(y) || len(x) != n {
		t.Errorf("a curve that goes up goes\n%v\n%v", x, y)
	}
	if got, want := (y[20]-y[0])/(y[n-1]-y[0]), 400.0/(39*39); math.Abs(got-want) > 1e-3 {
		t.Errorf("400 of 1521 is drawn at %v of the height, want %v", got, want)
	}
}

// The axis reaches to Max though the values do not, and beyond it if they do.
func TestMax(t *testing.T) {
	height := func(limit, top float64) float64 {
		svg, err := chart.Lines(chart.Axes{Max: limit}, []chart.Curve{{X: []float64{0, 1, 2, 3, 4, 5, 6}, Y: []float64{0, top, 0, 0, 0, 0, 0}}})
		if err != nil {
			t.Fatal(err)
		}
		_, y := read(t, string(svg)).curve()
		if len(y) != 7 {
			t.Fatalf("%v", y)
		}
		return y[1] - y[0]
	}
	whole := height(0, 0.5)
	if got := height(1, 0.5); math.Abs(got/whole-0.5) > 0.02 {
		t.Errorf("half of the axis is %v of its height", got/whole)
	}
	if got := height(1, 4); math.Abs(got/whole-1) > 0.02 {
		t.Errorf("what exceeds Max is %v of the height", got/whole)
	}
}

// With any data, the result is a drawing that can be part of a page.
func TestLittleData(t *testing.T) {
	for _, c := range []struct {
		name   string
		curves []chart.Curve
	}{
		{"none", nil},
		{"an empty one", []chart.Curve{{Name: "a"}}},
		{"empty lists", []chart.Curve{{Name: "a", X: []float64{}, Y: []float64{}}}},
		{"no Y", []chart.Curve{{Name: "a", X: []float64{1, 2}}}},
		{"one point", []chart.Curve{{Name: "a", X: []float64{1}, Y: []float64{1}}}},
		{"nothing but zero", []chart.Curve{{Name: "a", X: []float64{0, 0, 0}, Y: []float64{0, 0, 0}}}},
		{"below zero", []chart.Curve{{Name: "a", X: []float64{0, 1}, Y: []float64{-1, -2}}}},
		{"more X than Y", []chart.Curve{{Name: "a", X: []float64{0, 1, 2}, Y: []float64{1, 2}}}},
		{"an empty one beside another", []chart.Curve{{Name: "a"}, {Name: "b", X: []float64{0, 1}, Y: []float64{1, 2}}}},
		{"large and small", []chart.Curve{{Name: "a", X: []float64{0, 1e15}, Y: []float64{1e-15, 1e15}}}},
		{"more curves than colours and dashes", many(100)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, axes := range []chart.Axes{{}, {Title: "t", X: "x", Y: "y", Max: 1, LegendLeft: true}} {
				svg, err := chart.Lines(axes, c.curves)
				if err != nil {
					t.Fatal(err)
				}
				read(t, string(svg))
			}
		})
	}
}

func many(n int) (list []chart.Curve) {
	for i := range n {
		list = append(list, chart.Curve{Name: fmt.Sprint("curve ", i), X: []float64{0, 1}, Y: []float64{0, float64(i)}})
	}
	return list
}

// A value that is no number is an error that names the chart and the curve; nothing is drawn, and nothing panics.
func TestNoNumbers(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for name, c := range map[string]chart.Curve{
			"X": {Name: "the curve", X: []float64{0, bad, 2}, Y: []float64{0, 1, 2}},
			"Y": {Name: "the curve", X: []float64{0, 1, 2}, Y: []float64{0, 1, bad}},
		} {
			svg, err := chart.Lines(chart.Axes{Title: "the chart"}, []chart.Curve{{Name: "sound", X: []float64{0, 1}, Y: []float64{0, 1}}, c})
			if err == nil || svg != "" || !strings.Contains(err.Error(), "the curve") || !strings.Contains(err.Error(), "the chart") {
				t.Errorf("%v in %s: %v and %d bytes", bad, name, err, len(svg))
			}
		}
		svg, err := chart.Bars(chart.Axes{Title: "the chart"}, []string{"a", "b"}, []float64{1, bad})
		if err == nil || svg != "" || !strings.Contains(err.Error(), "the chart") {
			t.Errorf("%v in bars: %v and %d bytes", bad, err, len(svg))
		}
	}
}

func TestBars(t *testing.T) {
	svg, err := chart.Bars(chart.Axes{Title: "sizes", X: "bytes", Y: "responses"}, []string{"1K", "2K", "4K"}, []float64{5, 10, 0})
	if err != nil {
		t.Fatal(err)
	}
	d := read(t, string(svg))
	for _, text := range []string{"sizes", "bytes", "responses", "1K", "2K", "4K"} {
		if !slices.Contains(d.texts, text) {
			t.Errorf("%q is not written: %q", text, d.texts)
		}
	}
	if len(d.paths) < 3 {
		t.Errorf("bars are missing: %q", d.paths)
	}
	for _, c := range []struct {
		name   string
		names  []string
		values []float64
	}{
		{"nothing", nil, nil},
		{"names alone", []string{"a"}, nil},
		{"one", []string{"a"}, []float64{1}},
		{"zeros", []string{"a", "b"}, []float64{0, 0}},
		{"below zero", []string{"a", "b"}, []float64{-1, 2}},
		{"fewer names", []string{"a"}, []float64{1, 2, 3}},
		{"more names", []string{"a", "b", "c"}, []float64{1, 2}},
		{"no names", nil, []float64{1, 2}},
		{"many", slices.Repeat([]string{"a name"}, 1000), slices.Repeat([]float64{7}, 1000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("panics: %v", r)
				}
			}()
			svg, err := chart.Bars(chart.Axes{Title: "t"}, c.names, c.values)
			if err != nil {
				t.Fatal(err)
			}
			read(t, string(svg))
		})
	}
}

// No text becomes an element or an attribute.
func TestEscapes(t *testing.T) {
	const hostile = `</text></svg><script>alert("x")</script><img src=x onerror='alert(1)'> & &amp; ]]> Ümläüte`
	lines, err := chart.Lines(chart.Axes{Title: hostile, X: hostile, Y: hostile}, []chart.Curve{{Name: hostile, X: []float64{0, 1}, Y: []float64{0, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	const name = `<script>'&"`
	bars, err := chart.Bars(chart.Axes{Title: hostile, X: hostile, Y: hostile}, []string{name, "b"}, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, svg := range []string{string(lines), string(bars)} {
		d := read(t, svg)
		n := 0
		for _, text := range d.texts {
			if text == hostile || text == name {
				n++
			}
		}
		if n < 4 || d.elements["script"]+d.elements["img"] > 0 || d.names["onerror"] || d.names["src"] || strings.Contains(svg, "<script") {
			t.Errorf("%d texts of %q; elements %v", n, d.texts, d.elements)
		}
	}
}
