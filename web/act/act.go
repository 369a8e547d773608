package act

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/routine"
	"pgtaskd/web/edit"
	"pgtaskd/web/login"
	"pgtaskd/web/page"
	"pgtaskd/web/rows"
)

// How long the first request of an act on many tasks counts them, and if it searches a text.
const (
	countTime  = 700 * time.Millisecond
	searchTime = 2500 * time.Millisecond
)

// Acts does acts, also in the background.
type Acts struct {
	log      zerolog.Logger
	sessions *rows.Sessions
	tokens   *tokens
	crew     *routine.Group
	poked    chan struct{}  // capacity 1, so pokes coalesce
	most     map[string]int // tasks of the next step, by act; of the background's goroutine

	mu      sync.Mutex
	targets []page.Target
	due     map[string]time.Time // when to look at a target, by name
	seen    map[string]time.Time // when somebody made it look
	leads   map[string]bool      // whether this controller led the target at the last look
}

// New returns Acts without targets. Close ends them.
func New(s *rows.Sessions, log zerolog.Logger) *Acts { return newActs(s, log, time.Now) }

// newActs has a clock for the age of tokens.
func newActs(s *rows.Sessions, log zerolog.Logger, now func() time.Time) *Acts {
	a := &Acts{
		log: log, sessions: s, tokens: newTokens(now), crew: routine.New(context.Background()),
		poked: make(chan struct{}, 1), most: map[string]int{},
		due: map[string]time.Time{}, seen: map[string]time.Time{}, leads: map[string]bool{},
	}
	a.crew.Go(a.work)
	return a
}

// Show replaces the targets. Acts that a controller has left undone in them go on.
func (a *Acts) Show(targets []page.Target) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range targets {
		if !slices.ContainsFunc(a.targets, func(before page.Target) bool { return before.Name == t.Name }) {
			a.due[t.Name] = time.Time{}
		}
	}
	a.targets = targets
	a.poke()
}

// Close stops what is under way, and waits for it. What is not done goes on at the next start.
func (a *Acts) Close() {
	a.crew.End()
	a.crew.Wait()
}

// request is a request to change something.
type request struct {
	*http.Request
	w      http.ResponseWriter
	asked  *page.Asked // its Query are the parameters of the body
	target page.Target
	json   bool // the answer is JSON
}

// Act answers POST /act. The user is an operator, the body is bounded, and the request comes from
// no other site. An error without an answer becomes one: page.Wrong has the status 400.
func (a *Acts) Act(w http.ResponseWriter, r *http.Request, asked *page.Asked) error {
	return a.answer(w, r, asked, parameters, func(q *request) error {
		d := edit.Doing{Do: q.get("do"), By: q.asked.User.Name}
		if data := q.asked.Query["data"]; len(data) > 0 {
			d.Data = &data[0]
		}
		switch {
		case d.Do == stops:
			return a.stop(q)
		case !slices.Contains(edit.Verbs, d.Do):
			return page.Wrong("do must be one of %s, not %q", strings.Join(edit.Verbs, ", "), d.Do)
		case d.Data != nil && d.Do != "run":
			return page.Wrong("data goes with run only")
		case q.single():
			return a.one(q, d)
		case q.get("token") == "":
			return a.preview(q, d)
		}
		return a.begin(q, d)
	})
}

// answer reads a request, and calls do with it. A refusal is an answer, too.
func (a *Acts) answer(w http.ResponseWriter, r *http.Request, asked *page.Asked, known []string, do func(*request) error) error {
	q, err := read(w, r, asked, known)
	if err != nil {
		return err
	}
	err = do(q)
	var refused *edit.Refused
	if errors.As(err, &refused) && q.json {
		return page.SendJSON(q.w, refused.Status, result{Text: refused.Text})
	}
	return err
}

// result is the answer as JSON. Count is how many tasks were changed, or would be.
type result struct {
	Count int64  `json:"count"`
	Over  bool   `json:"over,omitempty"`  // there are more
	Token string `json:"token,omitempty"` // for the second request
	Act   int64  `json:"act,omitempty"`   // id in the table of acts
	Text  string `json:"text,omitempty"`
}

// one does an act to one task.
func (a *Acts) one(q *request, d edit.Doing) error {
	id, err := q.id("id")
	if err != nil {
		return err
	}
	err = a.sessions.Change(q.Context(), q.target.Target, page.ListLimit, func(ctx context.Context, b *rows.Table) error {
		if err := edit.One(ctx, b, d, id); err != nil {
			return err
		}
		return edit.Record(ctx, b, d, id)
	})
	if err != nil {
		return err
	}
	return q.done("/task", "target", q.target.Name, "id", q.get("id"))
}

// done answers that one thing was changed: a browser goes back to where it came from, else to a
// page.
func (q *request) done(path string, parameters ...string) error {
	if q.json {
		return page.SendJSON(q.w, http.StatusOK, result{Count: 1})
	}
	return q.lead(q.asked.Link(path, parameters...))
}

// lead leads a browser back to where it came from, else to a URL.
func (q *request) lead(other string) error {
	if back := q.get("back"); back != "" && login.Local(back, q.asked.Prefix) == back {
		other = back
	}
	q.w.Header().Set("Location", other)
	q.w.WriteHeader(http.StatusSeeOther)
	return nil
}
