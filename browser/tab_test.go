package browser

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"pgtaskd/server/servertest"
)

// tab is a tab of Chromium that nobody has used before.
type tab struct {
	*stage
	ctx context.Context

	mu      sync.Mutex
	foreign []string // requests to other hosts, and dialogs: there must be none
}

// open opens a tab, and logs in unless user is "".
func (s *stage) open(user string, prepare ...step) *tab {
	s.Helper()
	ctx, end := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	s.Cleanup(end)
	b := &tab{stage: s, ctx: ctx}
	own, err := url.Parse(s.url)
	if err != nil {
		s.Fatal(err)
	}
	if err := chromedp.Do(ctx, call(network.Enable, network.EnableParams{})); err != nil { // opens the tab, for as long as ctx lives
		s.Fatal(err)
	}
	err = chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if to, err := url.Parse(e.Request.URL); err != nil || to.Scheme != "data" && to.Host != own.Host {
				b.note(e.Request.URL)
			}
		case *page.EventJavascriptDialogOpening:
			b.note("dialog: " + e.Message)
		}
	})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.foreign) > 0 {
			s.Errorf("the page did what it must not: %q", b.foreign)
		}
	})
	b.do(prepare...)
	if user != "" {
		b.visit("/login")
		b.do(chromedp.SendKeys(chromedp.CSS("input[name=token]"), token(user)), chromedp.Submit(chromedp.CSS("input[name=token]")))
		b.becomes("logged in", `!document.querySelector('input[name=token]')`)
	}
	return b
}

func (b *tab) note(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.foreign = append(b.foreign, what)
}

// step is something that Chromium does.
type step = chromedp.Action[chromedp.Void]

// call calls a command of Chromium's protocol whose answer does not matter.
func call[P, R any](c cdp.Command[P, R], params P) step {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, c, params)
		return chromedp.Void{}, err
	}
}

func (b *tab) do(steps ...step) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, servertest.Limit(patience))
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// visit opens a page of the site and waits until it has loaded.
func (b *tab) visit(path string) {
	b.Helper()
	b.do(chromedp.Navigate(b.url + path))
}

// eval returns the value of an expression of JavaScript.
func eval[T any](b *tab, expression string) (value T) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, servertest.Limit(patience))
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatal(err)
	}
	return value
}

// becomes waits until an expression of JavaScript is true.
func (b *tab) becomes(what, expression string) {
	b.Helper()
	servertest.Wait(b.T, patience, what, func() bool { return b.is(expression) })
}

// is tells whether an expression is true now; while a page is being loaded, it is not.
func (b *tab) is(expression string) bool {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
	return err == nil && is
}

// click clicks the first element that a selector finds.
func (b *tab) click(selector string) {
	b.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// text returns the text of the page.
func (b *tab) text() string {
	b.Helper()
	return eval[string](b, "document.body.innerText")
}

// shoot takes a picture of the whole page. It goes to docs/page if PGTASKD_PICTURES is set.
func (b *tab) shoot(name string, width, height int64, dark bool) {
	b.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.do(
		chromedp.EmulateViewport(width, height),
		call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}),
	)
	ctx, cancel := context.WithTimeout(b.ctx, servertest.Limit(patience))
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil || len(picture) < 5000 {
		b.Errorf("the picture %s is empty: %v", name, err)
	}
	folder := b.folder
	if os.Getenv("PGTASKD_PICTURES") != "" {
		folder = "../docs/page"
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644); err != nil {
		b.Error(err)
	}
}

// withoutJavaScript makes a tab that runs none.
func withoutJavaScript() step {
	return call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}
