package act

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/server/servertest"
	"pgtaskd/web/rows"
)

// ended waits until an act has ended, and returns its row.
func (s *stage) ended(id int64) servertest.Row {
	s.T.Helper()
	servertest.Wait(s.T, patience, "the act to end", func() bool {
		return s.Get("SELECT ended IS NOT NULL FROM task_act WHERE id = $1", id) == "true"
	}, func() string { return s.Get("SELECT json_agg(a) FROM task_act AS a") })
	return servertest.Rows(s.T, s.Conn, "SELECT * FROM task_act WHERE id = $1", id)[0]
}

// all does an act on all that a filter matches: parameters of a form.
func (s *stage) all(body string) servertest.Row {
	s.T.Helper()
	first := s.post(s.Act, asJSON(body))
	second := s.post(s.Act, asJSON(body+"&token="+url.QueryEscape(first.Token)))
	if first.status != 200 || second.status != 202 || second.result.Act == 0 {
		s.T.Fatal(first, second)
	}
	return s.ended(second.result.Act)
}

// asJSON turns a form into JSON.
func asJSON(form string) string {
	values, _ := url.ParseQuery(form)
	var all []string
	for name := range values {
		all = append(all, fmt.Sprintf("%q: %q", name, values.Get(name)))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// TestAnActOnManyTasks asks first, and is done in the background.
func TestAnActOnManyTasks(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Exec(`INSERT INTO task (input, "group", plan) SELECT 'SELECT 1', CASE WHEN i % 3 = 0 THEN 'g5' ELSE 'g' END, '2100-01-01' FROM generate_series(1, 3000) AS i`)
	first := s.post(s.Act, `{"do": "pause", "group": "g"}`)
	if first.status != 200 || first.Count != 2000 || first.Over || first.Token == "" {
		t.Fatal(first)
	}
	if got := s.Get("SELECT count(*) FROM task WHERE state = 'STOP'"); got != "0" {
		t.Error("the first request has paused ", got)
	}
	form := s.post(s.Act, "do=pause&group=g&back=/jobs/tasks?group=g")
	for _, part := range []string{"<b>2000</b>", `name="token"`, `name="group" value="g"`, "UPDATE", "pgtaskd act pause", "--group=g", `value="pause"`} {
		if !strings.Contains(strings.ReplaceAll(form.text, "2,000", "2000"), part) {
			t.Errorf("the page lacks %q: %s", part, form.text)
		}
	}
	token := strings.Split(strings.Split(form.text, `name="token" value="`)[1], `"`)[0]
	if got := s.post(s.Act, "do=pause&group=g&back=/jobs/tasks?group=g&token="+token); got.status != 303 || got.location != "/jobs/tasks?group=g" {
		t.Fatal(got)
	}
	row := s.ended(1)
	if row.Text("done") != "2000" || row.Text("matched") != "2000" || row.Text("by") != "ann" {
		t.Error(row)
	}
	if got := s.Get(`SELECT string_agg(DISTINCT concat("group", state), ' ') FROM task`); got != "g5PLAN gSTOP" {
		t.Error(got)
	}
}

// TestAnActOnAllSaysSo: nobody does it by a filter that has become empty. The order of a list can
// leave out tasks, too.
func TestAnActOnAllSaysSo(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Exec("INSERT INTO task (id, input, plan) SELECT i, 'SELECT 1', '2100-01-01' FROM generate_series(1, 3) AS i")
	s.Exec("UPDATE task SET state = 'STOP' WHERE id = 1")
	const all = "There is no filter: all tasks of the target"
	if got := s.post(s.Act, `{"do": "delete", "group": ""}`); got.Count != 3 || !strings.Contains(got.result.Text, all) {
		t.Error(got)
	}
	if got := s.post(s.Act, "do=delete"); !strings.Contains(got.text, all) {
		t.Error(got)
	}
	if got := s.post(s.Act, `{"do": "delete", "sort": "due"}`); got.Count != 2 || strings.Contains(got.result.Text, all) {
		t.Error(got)
	}
}

// TestTokens: each is for its act, filter, data, target and user alone, once, for ten minutes.
func TestTokens(t *testing.T) {
	t.Parallel()
	s := staged(t)
	now := time.Now()
	sessions := rows.New()
	s.Acts = newActs(sessions, zerolog.Nop(), func() time.Time { return now })
	t.Cleanup(sessions.Close)
	t.Cleanup(s.Acts.Close)
	s.Exec(`INSERT INTO task (input, plan) VALUES ('SELECT 1', '2100-01-01')`)
	first := func() string {
		return s.post(s.Act, `{"do": "run", "state": "PLAN", "data": "x"}`).Token
	}
	token := first()
	for name, body := range map[string]string{
		"another act":    `{"do": "pause", "state": "PLAN", "token": "%s"}`,
		"another filter": `{"do": "run", "state": "DONE", "data": "x", "token": "%s"}`,
		"other data":     `{"do": "run", "state": "PLAN", "data": "y", "token": "%s"}`,
		"no data":        `{"do": "run", "state": "PLAN", "token": "%s"}`,
		"another token":  `{"do": "run", "state": "PLAN", "data": "x", "token": "%s2"}`,
	} {
		if got := s.post(s.Act, fmt.Sprintf(body, token)); got.status != 409 {
			t.Errorf("%s: %v", name, got)
		}
	}
	again := fmt.Sprintf(`{"do": "run", "state": "PLAN", "data": "x", "token": "%s"}`, token)
	s.user = "bob"
	if got := s.post(s.Act, again); got.status != 409 {
		t.Error("another user: ", got)
	}
	s.user = "ann"
	if got := s.post(s.Act, again); got.status != 202 {
		t.Error(got)
	}
	if got := s.post(s.Act, again); got.status != 409 {
		t.Error("twice: ", got)
	}
	token = first()
	now = now.Add(10 * time.Minute)
	if got := s.post(s.Act, fmt.Sprintf(`{"do": "run", "state": "PLAN", "data": "x", "token": "%s"}`, token)); got.status != 409 {
		t.Error("after ten minutes: ", got)
	}
	for range 3 * tokensMost {
		token = s.tokens.give("ann", "x", 1)
	}
	if n := len(s.tokens.given); n > tokensMost {
		t.Error("tokens: ", n)
	}
	if _, ok := s.tokens.take(token, "ann", "x"); !ok {
		t.Error("the newest is gone")
	}
}

// TestAnActGoesOn where another controller was when it died: run makes exactly one copy of each.
func TestAnActGoesOn(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Exec(`INSERT INTO task (input, plan, key) SELECT 'SELECT 1', '2100-01-01', i FROM generate_series(1, 3000) AS i`)
	first := s.post(s.Act, `{"do": "run", "until": "2200-01-01"}`)
	got := s.post(s.Act, fmt.Sprintf(`{"do": "run", "until": "2200-01-01", "token": %q}`, first.Token))
	servertest.Wait(t, patience, "some of it", func() bool { return s.Get("SELECT done > 0 FROM task_act") == "true" })
	s.Close()
	two := []*Acts{s.acts(), s.acts()}
	row := s.ended(got.result.Act)
	for _, a := range two {
		a.Close()
	}
	if row.Text("done") != "3000" {
		t.Error(row)
	}
	if n := s.Get("SELECT concat_ws(' ', count(*), count(key), count(*) FILTER (WHERE state = 'PLAN' AND key IS NULL)) FROM task"); n != "6000 3000 3000" {
		t.Error(n)
	}
}

// TestLockedAndRefusedTasks: an act waits a little for a task that somebody has locked, and goes on
// without those that it cannot change.
func TestLockedAndRefusedTasks(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Exec(`INSERT INTO task (id, input, state, stop, key) SELECT i, 'SELECT 1', 'GONE', now(), CASE WHEN i = 50 THEN 'k' END FROM generate_series(1, 100) AS i`)
	s.Exec(`INSERT INTO task (id, input, plan, key) VALUES (200, 'SELECT 1', '2100-01-01', 'k')`)
	other := servertest.Connect(t, s.Conn.Config().ConnString())
	servertest.Exec(t, other, "BEGIN")
	servertest.Exec(t, other, "SELECT FROM task WHERE id = 20 FOR UPDATE")
	row := s.all("do=again&state=GONE")
	if row.Text("done") != "98" || row.Text("failed") != "2" || !strings.Contains(row.Text("error"), "20") {
		t.Error(row)
	}
	servertest.Exec(t, other, "COMMIT")
	if row = s.all("do=again&state=GONE"); row.Text("done") != "1" || row.Text("failed") != "1" || !strings.Contains(row.Text("error"), "duplicate key") {
		t.Error(row)
	}
	if got := s.Get("SELECT string_agg(id::text, ' ') FROM task WHERE state = 'GONE'"); got != "50" {
		t.Error(got)
	}
}

// TestAnActIsStopped, and not twice.
func TestAnActIsStopped(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Exec(`INSERT INTO task (input, plan) SELECT 'SELECT 1', '2100-01-01' FROM generate_series(1, 1000)`)
	s.all("do=pause&state=PLAN") // makes the table
	s.Close()                    // nobody goes on
	first := s.post(s.Act, `{"do": "resume", "state": "STOP"}`)
	got := s.post(s.Act, fmt.Sprintf(`{"do": "resume", "state": "STOP", "token": %q}`, first.Token))
	stop := fmt.Sprintf(`{"do": "stop", "act": %d}`, got.result.Act)
	for _, want := range []int{200, 409} {
		if got := s.post(s.Act, stop); got.status != want {
			t.Error(got)
		}
	}
	if got := s.post(s.Act, `{"do": "stop", "act": 99}`); got.status != 404 {
		t.Error(got)
	}
	if row := s.ended(got.result.Act); row.Text("stopped") != "ann" || row.Text("done") != "0" {
		t.Error(row)
	}
}
