package chart

import (
	"html/template"
	"strings"
)

// The size of a chart and of its parts, in pixels of CSS (96 an inch). Data are drawn with the Y axis up.
const (
	width, height = 567, 378 // 15 cm by 10 cm
	left, right   = 64.0, 552.0
	bottom, top   = 52.0, 348.0

	legendTop, legendRow = top - 10, 13.0
	letterWidth          = 6.0 // of a tick's label, at most
)

// colours are those of M. Okabe and K. Ito, Color Universal Design (2008): readers who do not see all colours can distinguish them.
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"}

// dashes distinguish curves of one colour.
var dashes = []string{"none", "6 3", "2 2", "8 3 2 3"}

type drawing struct {
	Axes
	Width, Height            int
	Left, Right, Bottom, Top float64
	LegendText, LegendLine   float64 // where the names of curves end or begin, and where their lines begin
	LegendAnchor             string
	XTicks, YTicks           []tick
	Lines                    []line
	Bars                     []string // paths
}

type tick struct {
	At   float64
	Text string
}

type line struct {
	Name, Path, Colour, Dashes string
	Width, Row                 float64
}

func newDrawing(a Axes) *drawing {
	d := &drawing{
		Axes: a, Width: width, Height: height, Left: left, Right: right, Bottom: bottom, Top: top,
		LegendText: right - 32, LegendLine: right - 26, LegendAnchor: "end",
	}
	if a.LegendLeft {
		d.LegendText, d.LegendLine, d.LegendAnchor = left+34, left+8, "start"
	}
	return d
}

func (d *drawing) svg() (template.HTML, error) {
	var out strings.Builder
	if err := form.Execute(&out, d); err != nil {
		return "", err
	}
	return template.HTML(out.String()), nil
}

// form is the drawing. The template escapes what is written.
var form = template.Must(template.New("chart").Funcs(template.FuncMap{
	"at":   round,
	"down": func(y float64) string { return round(height - y) }, // of a text: it stands outside of the group that is turned over
	"half": func(a, b float64) float64 { return (a + b) / 2 },
	"add":  func(a, b float64) float64 { return a + b },
}).Parse(`<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="{{.Height}}" viewBox="0 0 {{.Width}} {{.Height}}" font-family="sans-serif" font-size="10">
{{$d := .}}<g transform="matrix(1 0 0 -1 0 {{.Height}})" fill="none" stroke="#ddd">
{{range .YTicks}}<line x1="{{at $d.Left}}" y1="{{at .At}}" x2="{{at $d.Right}}" y2="{{at .At}}"/>
{{end}}{{if .Lines}}{{range .XTicks}}<line x1="{{at .At}}" y1="{{at $d.Bottom}}" x2="{{at .At}}" y2="{{at $d.Top}}"/>
{{end}}{{end}}{{range .Bars}}<path d="{{.}}" fill="#0072b2" stroke="none"/>
{{end}}{{range .Lines}}<path d="{{.Path}}" stroke="{{.Colour}}" stroke-width="{{.Width}}" stroke-dasharray="{{.Dashes}}" stroke-linejoin="round"/>
<line x1="{{at $d.LegendLine}}" y1="{{at .Row}}" x2="{{at (add $d.LegendLine 22)}}" y2="{{at .Row}}" stroke="{{.Colour}}" stroke-width="{{.Width}}" stroke-dasharray="{{.Dashes}}"/>
{{end}}<line x1="{{at .Left}}" y1="{{at .Bottom}}" x2="{{at .Right}}" y2="{{at .Bottom}}" stroke="#000"/>
<line x1="{{at .Left}}" y1="{{at .Bottom}}" x2="{{at .Left}}" y2="{{at .Top}}" stroke="#000"/>
</g>
<text x="{{at (half .Left .Right)}}" y="18" text-anchor="middle" font-size="14">{{.Title}}</text>
<text x="{{at (half .Left .Right)}}" y="{{down 14}}" text-anchor="middle" font-size="12">{{.X}}</text>
<text transform="translate(14 {{down (half .Bottom .Top)}}) rotate(-90)" text-anchor="middle" font-size="12">{{.Y}}</text>
{{range .YTicks}}<text x="{{at (add $d.Left -6)}}" y="{{down (add .At -3.5)}}" text-anchor="end">{{.Text}}</text>
{{end}}{{range .XTicks}}<text x="{{at .At}}" y="{{down (add $d.Bottom -14)}}" text-anchor="middle">{{.Text}}</text>
{{end}}{{range .Lines}}<text x="{{at $d.LegendText}}" y="{{down (add .Row -3.5)}}" text-anchor="{{$d.LegendAnchor}}">{{.Name}}</text>
{{end}}</svg>
`))
