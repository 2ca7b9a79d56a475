package browsertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// Look goes to a page in a window so many pixels wide, and evaluates scripts there, one after the other; it returns the value of the last one,
// which may be a promise. Policies of the page do not keep these scripts from running.
func (b *Browser) Look(url string, pixels int64, scripts ...string) (value json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(b.ctx, limit)
	defer cancel()
	size := emulation.SetDeviceMetricsOverrideParams{Width: pixels, Height: height, DeviceScaleFactor: 1, Mobile: pixels < width/2}
	if _, err := do(ctx, emulation.SetDeviceMetricsOverride, size); err != nil {
		return nil, err
	}
	defer func() {
		size.Width, size.Mobile = width, false
		_, _ = do(b.ctx, emulation.SetDeviceMetricsOverride, size)
	}()
	if _, err := b.visit(ctx, url); err != nil {
		return nil, fmt.Errorf("look at %s: %w", url, err)
	}
	yes := true
	for _, s := range scripts {
		got, err := do(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: s, ReturnByValue: &yes, AwaitPromise: &yes})
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", url, err)
		}
		if got.ExceptionDetails != nil {
			return nil, fmt.Errorf("look at %s: %s", url, got.ExceptionDetails.Text)
		}
		value = json.RawMessage(got.Result.Value)
	}
	return value, nil
}

// Await goes to a page and waits until it and its frames are as they should be, which is when says. It returns what they show then, or at the end of its time, without
// a picture.
func (b *Browser) Await(url string, when func([]Document) bool) (out View, err error) {
	ctx, cancel := context.WithTimeout(b.ctx, limit)
	defer cancel()
	b.log.reset()
	went, err := do(ctx, page.Navigate, page.NavigateParams{URL: url})
	if err != nil || went.ErrorText != "" {
		return out, fmt.Errorf("view %s: %w", url, errors.Join(err, errors.New(went.ErrorText)))
	}
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	for {
		frames, err := do(ctx, page.GetFrameTree, cdp.Empty{})
		if err == nil {
			if list, err := read(ctx, frames.FrameTree); err == nil { // a frame may be on its way to another page
				out.Documents = list
			}
		}
		if when(out.Documents) {
			out.Requests = b.log.all()
			return out, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			out.Requests = b.log.all()
			return out, fmt.Errorf("view %s: %w", url, ctx.Err())
		}
	}
}
