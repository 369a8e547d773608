package act

import (
	"fmt"
	"strings"
	"testing"
)

// TestAnActOnOneTaskIsDoneAtOnce: a form leads back to where it came from on this page, JSON gets
// the count. Ids are exact.
func TestAnActOnOneTaskIsDoneAtOnce(t *testing.T) {
	t.Parallel()
	s := staged(t)
	const large = 9007199254740993
	add := func() { s.Exec("INSERT INTO task (id, input, plan) VALUES ($1, 'SELECT 1', '2100-01-01')", large) }
	for _, c := range []struct{ body, want string }{
		{"do=cancel&id=9007199254740993", "303 /jobs/task?id=9007199254740993&target=the+target"},
		{"do=cancel&id=9007199254740993&target=the+target&back=/jobs/tasks?state=PLAN%26tz=UTC", "303 /jobs/tasks?state=PLAN&tz=UTC"},
		{"do=cancel&id=9007199254740993&back=//evil/jobs/", "303 /jobs/task?id=9007199254740993&target=the+target"},
		{"do=cancel&id=9007199254740993&back=/jobs/%5Cevil", "303 /jobs/task?id=9007199254740993&target=the+target"},
		{"do=cancel&id=9007199254740993&back=https://evil/", "303 /jobs/task?id=9007199254740993&target=the+target"},
		{`{"do": "cancel", "id": 9007199254740993}`, `200 {"count":1}`},
		{`{"do": "cancel", "id": "9007199254740993", "data": null}`, `200 {"count":1}`},
	} {
		add()
		got := s.post(s.Act, c.body)
		if have := strings.TrimSpace(fmt.Sprint(got.status, " ", got.location, strings.TrimSpace(got.text))); have != c.want {
			t.Errorf("%s: %s, not %s", c.body, have, c.want)
		}
		if state := s.Get("SELECT concat_ws(' ', state, stop IS NOT NULL) FROM task WHERE id = $1", int64(large)); state != "STOP t" {
			t.Errorf("%s: it is %s", c.body, state)
		}
		s.Exec("DELETE FROM task")
	}
	if got := s.Get("SELECT string_agg(DISTINCT concat_ws(' ', by, \"do\", task, done), ', ') FROM task_act"); got != "ann cancel 9007199254740993 1" {
		t.Error(got)
	}
}

// TestLinesOfAForm: a browser sends two characters for the end of a line.
func TestLinesOfAForm(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Exec(`INSERT INTO task (id, input, "group", plan) VALUES (100, 'SELECT 1', E'a\nb', '2100-01-01')`)
	if got := s.post(s.Act, "do=run&id=100&data=1%0D%0A2"); got.status != 303 {
		t.Fatal(got)
	}
	if got := s.Get("SELECT string_agg(data, ',') FROM task WHERE id <> 100"); got != "1\n2" {
		t.Errorf("%q", got)
	}
	if got := s.post(s.Act, "do=pause&group=a%0D%0Ab"); !strings.Contains(got.text, "<b>2</b>") {
		t.Error(got)
	}
}

// TestWhatCannotBeIsRefused, and changes nothing.
func TestWhatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Exec("INSERT INTO task (id, input, plan) VALUES (1, 'SELECT 1', '2100-01-01')")
	for body, want := range map[string]string{
		"do=explode&id=1":                      "400 do must be one of",
		"id=1":                                 "400 do must be one of",
		"do=cancel&id=x":                       `400 id must be a whole number, not "x"`,
		"do=cancel&id=99999999999999999999":    "400 id must be a whole number",
		"do=cancel&id=1&id=1":                  "400 id is given twice",
		"do=cancel&statt=FAIL":                 `400 there is no parameter "statt"`,
		"do=run&id=1&input=SELECT+2":           `400 there is no parameter "input"`,
		"do=cancel&id=1&target=other":          `400 there is no target "other"`,
		"do=cancel&id=1&data=x":                "400 data goes with run only",
		"do=cancel&id=1&back=%00":              "400 back must be text",
		"do=resume&id=1":                       "409 task 1 is left alone: it waits",
		"do=again&id=1":                        "409 task 1 is left alone",
		"do=cancel&id=2":                       "404 there is no task 2",
		`{"do": "cancel", "id": 1.5}`:          `400 {"count":0,"text":"id must be a whole number`,
		`{"do": "cancel", "id": {}}`:           `400 "id" must be a text or a number`,
		`{"do": "cancel"`:                      "400 the body must be an object of JSON",
		`{"do": "again", "id": 1}`:             `409 {"count":0,"text":"task 1 is left alone`,
		`{"do": "cancel", "id": 1}{}`:          "400 the body must be an object of JSON",
		`{"do": "cancel", "id": 1, "Key": ""}`: `400 there is no parameter "Key"`,
		`{"do": "cancel", "id": 1, "id": 1}`:   `400 id is given twice`,
		`{"do": "cancel", "id": [1, null]}`:    `400 "id" must be a text or a number`,
		`{"do": "cancel", "state": [null]}`:    `400 "state" must be a text or a number`,
		"do=cancel&state=,":                    "400 state must be among",
		"do=cancel&sort=due&state=FAIL":        "400 sort=due lists only tasks that wait or run",
	} {
		got := s.post(s.Act, body)
		if have := fmt.Sprint(got.status, " ", got.text); !strings.HasPrefix(have, want) {
			t.Errorf("%s: %s, not %s", body, have, want)
		}
	}
	if got := s.Get("SELECT string_agg(concat(id, state), ' ') FROM task"); got != "1PLAN" {
		t.Error(got)
	}
}

// TestGroupsAreChanged: only the columns that are given.
func TestGroupsAreChanged(t *testing.T) {
	t.Parallel()
	s := staged(t)
	for _, c := range []struct{ body, want, row string }{
		{"group=g&paused=true&note=n", "303 /jobs/groups?target=the+target", "g t n"},
		{"group=g&slots=3&until=2100-01-01T00:00:00Z", "303", "g t 2100 3 n"},
		{`{"group": "g", "paused": false, "slots": null, "rate": 5, "per": "1 min"}`, `200 {"count":1}`, "g f 5 00:01:00 n"},
		{"group=g&rate=&per=&note=", "303", "g f"},
		{"group=g&slots=-1", "400 new row", "g f"},
		{"group=g&slots=many", "400 invalid input", "g f"},
		{"group=g&rate=1", "400 new row", "g f"},
		{"group=g&until=soon", "400 a time must be", "g f"},
		{"group=g", "400 give one of", "g f"},
		{"slots=1", "400 group is missing", "g f"},
	} {
		got := s.post(s.Group, c.body)
		if have := fmt.Sprint(got.status, " ", got.location, got.text); !strings.HasPrefix(have, c.want) {
			t.Errorf("%s: %s, not %s", c.body, have, c.want)
		}
		row := s.Get(`SELECT concat_ws(' ', "group", paused, CASE WHEN until > now() THEN to_char(until, 'YYYY') END, slots, rate, per, note) FROM task_group`)
		if row != c.row {
			t.Errorf("%s: the row is %s, not %s", c.body, row, c.row)
		}
	}
	if got := s.Get(`SELECT string_agg(concat(by, "do", filter), ' ' ORDER BY id) FROM task_act`); !strings.HasPrefix(got, `anngroup{"note": "n", "group": "g", "paused": "true"}`) {
		t.Error(got)
	}
}
