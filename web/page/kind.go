package page

import (
	"context"
	"net/http"
	"time"

	"pgtaskd/web/edit"
	"pgtaskd/web/rows"
)

// Limits of the time that one statement of a page may take.
const (
	ListLimit   = time.Second
	SearchLimit = 5 * time.Second
)

// Kind is one kind of page.
type Kind struct {
	Path  string   // below the prefix; with ".json" it answers JSON
	Name  string   // of the template in html/, and of the page for the stylesheet
	Title string   // in the navigation; "": not there
	Takes []string // names of the URL's parameters, beside target and tz: others are refused
	Read  func(context.Context, *rows.Sessions, *Asked) (*Content, error)
	// Raw answers instead of Read, if it is there: a download. An error before it has written
	// becomes an answer.
	Raw func(http.ResponseWriter, *http.Request, *rows.Sessions, *Asked) error
}

// Kinds are all pages, in the order of the navigation.
var Kinds = []Kind{
	homePage,
	tasksPage,
	runningPage,
	lanesPage,
	errorsPage,
	groupsPage,
	actsPage,
	taskPage,
	downloadPage,
}

// Content is what a page shows.
type Content struct {
	Rows  any      // a slice of structs: the JSON, and what most templates range over
	View  any      // what the template needs beside Rows
	Notes []string // what was left out, and what is missing
	Next  string   // URL of the next page, relative to the prefix; "": there is none
}

// ofTarget makes the Read of a page that shows one target, which the URL names.
func ofTarget(read func(context.Context, *Asked, *rows.Table, *Content) error) func(context.Context, *rows.Sessions, *Asked) (*Content, error) {
	return func(ctx context.Context, s *rows.Sessions, a *Asked) (*Content, error) {
		t, err := a.Target()
		if err != nil {
			return nil, err
		}
		c := &Content{}
		return c, s.Read(ctx, t.Target, ListLimit, func(ctx context.Context, b *rows.Table) error { return read(ctx, a, b, c) })
	}
}

// Wrong is the error of a request that cannot be answered; its text says why.
func Wrong(format string, args ...any) error {
	return edit.Refuse(http.StatusBadRequest, format, args...)
}
