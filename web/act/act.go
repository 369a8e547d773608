// Package act does what people ask for on the page: to one task, or to all that a filter matches.
//
// One goroutine calls Show and Close; any may call the others.
package act

import (
	"net/http"

	"github.com/rs/zerolog"

	"pgtaskd/web/page"
	"pgtaskd/web/rows"
)

// Acts does acts, also in the background.
type Acts struct{}

// New returns Acts without targets. Close ends them.
func New(s *rows.Sessions, log zerolog.Logger) *Acts { return &Acts{} }

// Show replaces the targets. Acts that a controller has left undone in them go on.
func (a *Acts) Show(targets []page.Target) {}

// Close stops what is under way, and waits for it. What is not done goes on at the next start.
func (a *Acts) Close() {}

// Act answers POST /act. The user is an operator, the body is bounded, and the request comes from
// no other site. An error without an answer becomes one: page.Wrong has the status 400.
func (a *Acts) Act(w http.ResponseWriter, r *http.Request, asked *page.Asked) error {
	return page.Wrong("acts are not there yet")
}

// Group answers POST /group, in the same way.
func (a *Acts) Group(w http.ResponseWriter, r *http.Request, asked *page.Asked) error {
	return page.Wrong("acts are not there yet")
}
