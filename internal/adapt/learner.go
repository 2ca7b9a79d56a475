package adapt

import (
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/xpath"
)

// Bounds of the work on one page.
const (
	// DefaultSteps bounds each way of learning on one page, in steps: nodes of the page that are looked at, and work that costs as
	// much. Steps are counted and not timed, so that a page gives the same rule on a slow and on a busy machine.
	DefaultSteps = 4 << 20
	// Support is the share of the objects of a page that a learned expression must find.
	Support = 0.8
)

// learner tries expressions on one page.
type learner struct {
	eval  *xpath.Eval
	texts *texts
	cache map[string]*xpath.Expr
	// classes of the page in document order, each once, when they were asked for
	classes []string
	// above are expressions for objects that are derived from their parts
	above []string
	// words distinguish main text from other text, where bodies are guessed; nil: letters of paragraphs do
	words extract.Words
	// guessed: the bodies are not known by their text, but by their form alone
	guessed bool
}

// What some work costs, in steps.
const (
	parseSteps  = 8 // a byte of an expression that is parsed or changed
	letterBytes = 4 // bytes of a text that is summed up, a step
)

// newLearner sums up the texts of a page.
func newLearner(eval *xpath.Eval) *learner {
	l := &learner{eval: eval, cache: map[string]*xpath.Expr{}}
	l.pay(4 * eval.Tree.Len())
	if !l.outOfSteps() {
		l.texts = sumPage(eval)
	}
	return l
}

// withinSteps runs fn with a learner that may take so many steps of the page's budget. fn is not called if they are too few to
// read the page.
func withinSteps(eval *xpath.Eval, steps int, fn func(*learner)) {
	eval.Within(steps, func() {
		if l := newLearner(eval); !l.outOfSteps() {
			fn(l)
		}
	})
}

// outOfSteps reports that no steps are left: what was found until then is the result.
func (l *learner) outOfSteps() bool { return l.eval.Budget < 0 }

func (l *learner) pay(steps int) { l.eval.Pay(steps) }

// sum is the sum of a node or an attribute.
func (l *learner) sum(r xpath.Ref) sum {
	if r.Attr >= 0 {
		l.pay(len(l.eval.Tree.Node(r).Attr[r.Attr].Val) / letterBytes)
	}
	return l.texts.of(r)
}

func (l *learner) parse(text string) *xpath.Expr {
	if x, ok := l.cache[text]; ok {
		return x
	}
	l.pay(parseSteps * len(text))
	x, err := xpath.Parse(text)
	if err != nil {
		x = nil
	}
	l.cache[text] = x
	return x
}
