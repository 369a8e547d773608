package act

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/web/edit"
	"pgtaskd/web/login"
	"pgtaskd/web/page"
	"pgtaskd/web/rows"
	worktarget "pgtaskd/work/target"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// patience is how long a test waits for something that should come soon.
const patience = 20 * time.Second

// stage is a table of tasks, and the page's acts on it.
type stage struct {
	tasktest.Table
	*Acts
	targets []page.Target
	user    string
}

func staged(t *testing.T) *stage {
	t.Helper()
	dsn := tasktest.Database(t)
	target, err := conf.Single(dsn)
	if err != nil {
		t.Fatal(err)
	}
	target.Stats = worktarget.NewStats()
	s := &stage{Table: tasktest.Public(t, servertest.Connect(t, dsn)), targets: []page.Target{{Target: target, Name: "the target"}}, user: "ann"}
	s.Acts = s.acts()
	return s
}

// acts returns Acts as another controller has them.
func (s *stage) acts() *Acts {
	sessions := rows.New()
	a := New(sessions, zerolog.New(zerolog.NewTestWriter(s.T)))
	s.T.Cleanup(sessions.Close)
	s.T.Cleanup(a.Close)
	a.Show(s.targets)
	return a
}

// answer is the answer to a request.
type answer struct {
	status         int
	location, text string
	result         // of JSON
}

// post sends a body to a handler: JSON if it begins as such.
func (s *stage) post(do func(http.ResponseWriter, *http.Request, *page.Asked) error, body string) (got answer) {
	s.T.Helper()
	r := httptest.NewRequestWithContext(s.T.Context(), http.MethodPost, "/act", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if strings.HasPrefix(body, "{") {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	asked := &page.Asked{Kind: &page.Kind{Path: "/act"}, Targets: s.targets, User: login.User{Name: s.user, Role: login.Operator}, Prefix: "/jobs"}
	err := do(w, r, asked)
	var refused *edit.Refused
	got = answer{status: w.Code, location: w.Header().Get("Location"), text: w.Body.String()}
	switch {
	case errors.As(err, &refused):
		got.status, got.text = refused.Status, refused.Text
	case err != nil:
		got.status, got.text = http.StatusServiceUnavailable, err.Error()
	case strings.HasPrefix(got.text, "{"):
		if err := json.Unmarshal([]byte(got.text), &got.result); err != nil {
			s.T.Error(err)
		}
	}
	return got
}
