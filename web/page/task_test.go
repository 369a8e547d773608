package page

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/web/login"
	"pgtaskd/web/rows"
	"pgtaskd/work/target"
)

// asker asks for pages of one table that nobody serves.
type asker struct {
	tasktest.Table
	*rows.Sessions
	target Target
}

func asking(t *testing.T) *asker {
	t.Helper()
	dsn := tasktest.Database(t)
	one, err := conf.Single(dsn)
	if err != nil {
		t.Fatal(err)
	}
	one.Stats = target.NewStats()
	s := rows.New()
	t.Cleanup(s.Close)
	return &asker{tasktest.Public(t, servertest.Connect(t, dsn)), s, Target{Target: one, Name: one.Name()}}
}

// ask returns the page as HTML and as JSON.
func (s *asker) ask(k Kind, hidden rows.Hidden, query string) (html, text string, err error) {
	s.T.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		s.T.Fatal(err)
	}
	a := &Asked{Kind: &k, Targets: []Target{s.target}, Query: values, User: login.User{Name: "ann", Role: login.Operator}, Hidden: hidden}
	c, err := k.Read(s.T.Context(), s.Sessions, a)
	if err != nil {
		return "", "", err
	}
	sheet := &Sheet{Asked: a, Content: c}
	shown, err := sheet.Main()
	if err != nil {
		s.T.Fatal(err)
	}
	encoded, err := json.Marshal(c.Rows)
	if err != nil {
		s.T.Fatal(err)
	}
	return string(shown) + strings.Join(c.Notes, "\n"), string(encoded), nil
}

// task asks for a task, which must be there.
func (s *asker) task(id int64, hidden rows.Hidden) (html, text string, fields map[string]json.RawMessage) {
	s.T.Helper()
	html, text, err := s.ask(taskPage, hidden, fmt.Sprint("id=", id))
	if err != nil {
		s.T.Fatal(err)
	}
	var all []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil || len(all) != 1 {
		s.T.Fatalf("%v: %s", err, text)
	}
	return html, text, all[0]
}

// TestATaskThatIsNotThere: the answer says so, and an id that is none is refused.
func TestATaskThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := asking(t)
	_, _, err := s.ask(taskPage, rows.Hidden{}, "id=9223372036854775807")
	if err == nil || isWrong(err) || !strings.Contains(err.Error(), "no task 9223372036854775807") {
		t.Errorf("%v", err)
	}
	for _, query := range []string{"", "id=", "id=x", "id=1.5", "id=9223372036854775808", "id=1&target=other"} {
		_, _, err := s.ask(taskPage, rows.Hidden{}, query)
		if !isWrong(err) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// breaking is a text that breaks what does not escape it.
const breaking = "</pre><script>alert(1)</script>\"'`{{.}} \u202e\x01 password=hush\n\t&amp;"

// TestATaskShowsItsWholeRow: all texts are shown as text, numbers are exact, and the JSON has the
// names of the columns.
func TestATaskShowsItsWholeRow(t *testing.T) {
	t.Parallel()
	s := asking(t)
	s.Exec(`CREATE TYPE pair AS (a int8, "b<" text)`)
	s.Exec(`ALTER TABLE task ADD COLUMN doc jsonb, ADD COLUMN raw bytea, ADD COLUMN duo pair, ADD COLUMN rate numeric, ADD COLUMN real float8,
		ADD COLUMN "<b>" text, ADD COLUMN big int8, ADD COLUMN seen timestamptz, ADD COLUMN why text, ADD COLUMN list int8[]`)
	const id = int64(9007199254740993)
	s.Add(`id, parent, input, data, output, error, notice, "group", key, "null", remote, cron, plan, author, on_fail, settings, doc, raw, duo, rate, real, "<b>", big, seen, why, list`,
		id, id-1, breaking, breaking, breaking, breaking, breaking, breaking, breaking, breaking, "host=a password=hush", "* * * * *", "infinity", breaking, breaking,
		`{"a<": "</script>"}`, `{"n": 12345678901234567890, "t": "</script>"}`, []byte{0, 255}, "(9007199254740993,\"</pre>\")", "NaN", "-Infinity", breaking,
		int64(9223372036854775807), "-infinity", "mine", "{1,NULL}")
	html, text, fields := s.task(id, rows.Hidden{})
	for name, want := range map[string]string{
		"id": "9007199254740993", "parent": "9007199254740992", "plan": `"infinity"`, "seen": `"-infinity"`, "doc": `{"n":12345678901234567890,"t":"</script>"}`,
		"raw": `"\\x00ff"`, "duo": `"(9007199254740993,</pre>)"`, "rate": `"NaN"`, "real": `"-Infinity"`, "big": "9223372036854775807", "why": `"mine"`,
		"list": "[1,null]", "remote": `"host=a"`, "stop": "null", "delete": "true", "count": "0", "output_bytes": fmt.Sprint(len(breaking)),
	} {
		if got := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(fields[name])); got != want {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
	var input string
	if _ = json.Unmarshal(fields["input"], &input); input != breaking {
		t.Errorf("input is %q", input)
	}
	for _, bad := range []string{"<script", "</script>", "\u202e", "\x01", "<b>9", "host=a password"} {
		if strings.Contains(html, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(html, "</pre>"); n != strings.Count(html, "<pre") {
		t.Errorf("%d ends of pre", n)
	}
	var shown string
	if _ = json.Unmarshal(fields["error"], &shown); !strings.Contains(shown, "password=***") {
		t.Errorf("error is %q", shown)
	}
	if !strings.Contains(html, "no controller leads") || strings.Contains(text, "no controller leads") {
		t.Error("why is the user's own column in JSON")
	}
}

// TestLongValuesOfATaskAreCut: a page costs no more than what it shows.
func TestLongValuesOfATaskAreCut(t *testing.T) {
	t.Parallel()
	s := asking(t)
	s.Exec(`ALTER TABLE task ADD COLUMN doc jsonb, ADD COLUMN raw bytea; ALTER TABLE task ALTER raw SET STORAGE external`)
	id := s.Add("input, plan, data", "x", "infinity", "a"+strings.Repeat("ä", 40_000))
	s.Exec(`UPDATE task SET output = repeat('0123456789', 1000000), doc = to_jsonb(repeat('x', 10000000)), raw = decode(repeat('00', 5000000), 'hex') WHERE id = $1`, id)
	html, _, fields := s.task(id, rows.Hidden{})
	for name, want := range map[string]string{"output_bytes": "10000000", "data_bytes": "80001", "raw_bytes": "5000000", "raw": "null"} {
		if got := string(fields[name]); got != want {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
	for name, want := range map[string]int{"output": rows.ValueMost, "data": rows.ValueMost - 1, "doc": rows.ValueMost} {
		var text string
		if err := json.Unmarshal(fields[name], &text); err != nil || len(text) != want {
			t.Errorf("%s has %d bytes (%v)", name, len(text), err)
		}
	}
	if !strings.Contains(html, "Download all 10.0 MB") || len(html) > 500_000 {
		t.Errorf("a page of %d bytes", len(html))
	}
}

// TestATaskHidesFromReaders what is hidden: also the input in errors, in those of earlier runs, and
// what becomes an input.
func TestATaskHidesFromReaders(t *testing.T) {
	t.Parallel()
	s := asking(t)
	id := s.Add("cron, input, data, output, on_fail, error, runs, state, stop, start", "CRON_TZ=Europe/Berlin 0 6 * * *", "SECRET in", "SECRET da", "SECRET out", "SECRET fail",
		"ERROR:  bad\nSTATEMENT:  SECRET st", `[{"start": "2026-01-02T03:04:05.6+00:00", "stop": "2026-01-02T03:04:06+00:00", "pid": 77, "state": "FAIL", "error": "ERROR:  password=hush\nQUERY:  SECRET run", "cause": "retry"}]`,
		"FAIL", "now", "now")
	html, text, fields := s.task(id, rows.Hidden{Data: true, Input: true, Output: true})
	for _, got := range []string{html, text} {
		if strings.Contains(got, "SECRET") || strings.Contains(got, "hush") || !strings.Contains(got, "ERROR:  bad") || !strings.Contains(got, "password=***") {
			t.Error(got)
		}
	}
	if string(fields["output"]) != "null" || fields["output_bytes"] != nil || !strings.Contains(html, "Not shown to readers: data, input, output.") {
		t.Error(text)
	}
	if html, text, _ = s.task(id, rows.Hidden{}); strings.Count(html, "SECRET") < 6 || strings.Count(text, "SECRET") != 6 {
		t.Error(html, text)
	}
	for _, want := range []string{`2026-01-02 04:04:05.6 &#43;01:00, Europe/Berlin`, "retry, pid 77", "value=\"again\""} {
		if !strings.Contains(html, want) {
			t.Errorf("%s is missing in %s", want, html)
		}
	}
	s.Exec(`UPDATE task SET runs = '{"error": "SECRET"}' WHERE id = $1`, id)
	if html, text, _ := s.task(id, rows.Hidden{Input: true, Output: true, Data: true}); strings.Contains(html+text, "SECRET") {
		t.Error("runs of others are shown")
	}
}

// TestTasksAroundATaskAreLinked: its chain, those it waits for, and those that wait for it, up to 20.
func TestTasksAroundATaskAreLinked(t *testing.T) {
	t.Parallel()
	s := asking(t)
	before := s.Add("input, state, stop, start, next", "x", "DONE", "now", "now", 100)
	first := s.Add("input, key", "x", "first<")
	gone := s.Add("input", "x")
	id := s.Add("id, input, parent, after, next, plan", 100, "x", before, []int64{first, gone}, 200, "infinity")
	s.Exec("UPDATE task SET met = ARRAY[(SELECT created FROM task WHERE id = $2), '2020-01-01'] WHERE id = $1", id, first) // the row with the id gone is another one now
	s.Add("id, input", 200, "x")
	s.Exec("INSERT INTO task (id, input, after) SELECT i, 'x', ARRAY[100] FROM generate_series(300, 330) AS i")
	s.Exec("INSERT INTO task (id, input, after) VALUES (400, 'x', ARRAY[100, 200])")
	for range 2 {
		html, _, _ := s.task(id, rows.Hidden{})
		for _, want := range []string{"the run before it", "its next repetition", "must end well first, first&lt;", fmt.Sprint(gone, " is gone"), "and more", `href="/task?id=300"`, `href="/task?id=200"`} {
			if !strings.Contains(html, want) {
				t.Errorf("%s is missing in %s", want, html)
			}
		}
		if n := strings.Count(html, ">waits for it"); n != rows.AroundMost {
			t.Errorf("%d tasks that wait", n)
		}
		s.Exec("UPDATE task SET awaits = 100 WHERE id BETWEEN 300 AND 325") // as the leader writes it
	}
}

// TestATaskWithoutWhy: the page says that it cannot tell why a task waits, and shows the rest.
func TestATaskWithoutWhy(t *testing.T) {
	t.Parallel()
	s := asking(t)
	id := s.Add("input", "x")
	if _, text, _ := s.task(id, rows.Hidden{}); !strings.Contains(text, `"why":"no controller leads`) {
		t.Error(text)
	}
	s.Exec("CREATE OR REPLACE FUNCTION task_why(id int8) RETURNS text LANGUAGE sql AS 'SELECT (1/(id-id))::text'")
	if html, _, _ := s.task(id, rows.Hidden{}); !strings.Contains(html, "Why it waits cannot be read: ERROR: division by zero") {
		t.Error(html)
	}
	s.Exec("DROP FUNCTION task_why")
	other := rows.New()
	defer other.Close()
	s.Sessions = other // the old one remembers the function for a while
	if html, text, _ := s.task(id, rows.Hidden{}); !strings.Contains(html, "the function task_why is not there") || !strings.Contains(text, `"why":null`) {
		t.Error(html, text)
	}
}
