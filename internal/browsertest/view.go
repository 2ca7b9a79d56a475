package browsertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// View is what a browser shows of a page at first, without a click.
type View struct {
	Documents []Document // the page and its frames
	Requests  []Request  // in the order in which they were made
	Picture   []byte     // of the window, a PNG file
}

// Document is a page, or one of its frames.
type Document struct {
	URL    string
	Title  string
	Text   string // its innerText
	Images []Image
	Fonts  []string // families that are loaded
}

// Image is an img element, also in a shadow tree.
type Image struct {
	URL           string // of the image that was chosen
	Width, Height int    // natural; 0 if it is not shown
}

// Open views a page of the web.
func (b *Browser) Open(url string) (View, error) {
	return b.view(url, func(tree *page.FrameTree) *page.FrameTree { return tree })
}

// view views the part of a page whose frame top returns.
func (b *Browser) view(url string, top func(*page.FrameTree) *page.FrameTree) (out View, err error) {
	ctx, cancel := context.WithTimeout(b.ctx, limit)
	defer cancel()
	if out.Requests, err = b.visit(ctx, url); err != nil {
		return out, fmt.Errorf("view %s: %w", url, err)
	}
	frames, err := do(ctx, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return out, fmt.Errorf("view %s: %w", url, err)
	}
	tree := top(frames.FrameTree)
	if tree == nil {
		return out, fmt.Errorf("view %s: the player shows no page", url)
	}
	if out.Documents, err = read(ctx, tree); err != nil {
		return out, fmt.Errorf("view %s: %w", url, err)
	}
	quick := true
	picture, err := do(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{OptimizeForSpeed: &quick})
	if err != nil {
		return out, fmt.Errorf("view %s: %w", url, err)
	}
	out.Picture = picture.Data
	return out, nil
}

// read reads a document and its frames.
func read(ctx context.Context, tree *page.FrameTree) ([]Document, error) {
	d := Document{URL: tree.Frame.URL}
	world, err := do(ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: tree.Frame.ID}) // scripts of the page, and of the player, change nothing there
	if err != nil {
		return nil, fmt.Errorf("frame %s: %w", d.URL, err)
	}
	byValue := true
	got, err := do(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: script, ContextID: world.ExecutionContextID, ReturnByValue: &byValue})
	if err != nil {
		return nil, fmt.Errorf("frame %s: %w", d.URL, err)
	}
	if got.ExceptionDetails != nil {
		return nil, fmt.Errorf("frame %s: %w", d.URL, errors.New(got.ExceptionDetails.Text))
	}
	var text string
	if err := errors.Join(json.Unmarshal(got.Result.Value, &text), json.Unmarshal([]byte(text), &d)); err != nil {
		return nil, fmt.Errorf("frame %s: %w", d.URL, err)
	}
	all := []Document{d}
	for _, child := range tree.ChildFrames {
		more, err := read(ctx, child)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// script describes a document in JSON.
const script = `(function () {
	var images = []
	function search(root) {
		root.querySelectorAll("img").forEach(function (e) { images.push({URL: e.currentSrc || e.src, Width: e.naturalWidth, Height: e.naturalHeight}) })
		root.querySelectorAll("*").forEach(function (e) { if (e.shadowRoot) search(e.shadowRoot) })
	}
	search(document)
	var fonts = Array.from(document.fonts || []).filter(function (f) { return f.status == "loaded" }).map(function (f) { return f.family })
	var root = document.body || document.documentElement
	return JSON.stringify({Title: document.title, Text: root.innerText === undefined ? root.textContent : root.innerText, Images: images, Fonts: fonts.sort()})
})()`
