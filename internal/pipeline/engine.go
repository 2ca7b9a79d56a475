package pipeline

import (
	"context"
	"log/slog"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/score"
)

// Engine turns the exchanges of batches into what the archive and the frontier get. It is safe for concurrent use, but one step of
// a batch runs at a time.
type Engine struct {
	Frontier *frontier.Frontier
	Helper   *aah.Helper // nil: no application is recognised
	Worker   string      // the writer of what is archived of a run; empty in the laboratory
	Now      func() time.Time
	// PDF reads PDF files; nil: their text is not read.
	PDF PDFReader
	// Reached says how far a long step has come; nil: nobody wants to know.
	Reached func(ctx context.Context, what string)
	// Log is the log of the step that a context is of; nil: the program's.
	Log func(context.Context) Logger

	Handover Handover // pages between the steps
	Workshop Workshop // seats

	early      early
	dictionary *score.Dictionary
	limits     page.Limits
	judges     judges
	reading    reading
}

// PDFReader reads the text and links of a PDF file, as page.Input says. It ends with ctx.
type PDFReader interface {
	Read(ctx context.Context, file []byte, textBytes int) (page.Paper, error)
}

// Logger takes what does not stop a step.
type Logger interface {
	Warn(msg string, keyvals ...any)
	Error(msg string, keyvals ...any)
}

// New makes an engine. helper may be nil.
func New(front *frontier.Frontier, helper *aah.Helper, dictionary *score.Dictionary, limits page.Limits, now func() time.Time) *Engine {
	return &Engine{Frontier: front, Helper: helper, dictionary: dictionary, limits: limits, Now: now}
}

func (e *Engine) log(ctx context.Context) Logger {
	if e.Log == nil {
		return slog.Default()
	}
	return e.Log(ctx)
}

func (e *Engine) reached(ctx context.Context, what string) {
	if e.Reached != nil {
		e.Reached(ctx, what)
	}
}

// Forget drops what memory holds of a crawl: the frontier keeps what it has learned.
func (e *Engine) Forget(crawl string) { e.judges.forget(crawl) }
