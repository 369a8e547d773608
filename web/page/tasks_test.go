package page

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/web/edit"
	"pgtaskd/web/login"
	"pgtaskd/web/rows"
	"pgtaskd/work"
)

func askedTasks(query string) *Asked {
	q, _ := url.ParseQuery(query)
	return &Asked{Kind: &tasksPage, Query: q, User: login.User{Role: login.Operator}, Prefix: "/jobs", Targets: []Target{{work.Target{}, "db/s/t"}}}
}

// TestFilterReadsTheURL: blank parameters select all, and what cannot be is an error.
func TestFilterReadsTheURL(t *testing.T) {
	t.Parallel()
	at := func(text string) pgtype.Timestamptz {
		parsed, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return pgtype.Timestamptz{Time: parsed, Valid: true}
	}
	for query, want := range map[string]rows.Filter{
		"state=&group=&key=&id=&since=&until=&q=": {},
		"state=FAIL,gone&state=STOP":              {States: []string{"FAIL", "GONE", "STOP"}},
		"id=9007199254740993":                     {ID: pgtype.Int8{Int64: 9007199254740993, Valid: true}},
		"group=g%25&key=a%2Cb&q=%5C_%25":          {Group: "g%", Key: "a,b", Text: `\_%`},
		"since=2030-01-31T08:00:00%2B02:00":       {Since: at("2030-01-31T06:00:00Z")},
		"since=2030-01-31T08:00:00+02:00":         {Since: at("2030-01-31T06:00:00Z")},
		"since=2030-01-31+08:00":                  {Since: at("2030-01-31T07:00:00Z")}, // in Berlin
		"until=2030-07-31&tz=UTC":                 {Until: at("2030-07-31T00:00:00Z")},
		"until=infinity":                          {Until: pgtype.Timestamptz{Valid: true, InfinityModifier: pgtype.Infinity}},
	} {
		got, err := askedTasks(query).Filter("Europe/Berlin")
		for _, pair := range [][2]*pgtype.Timestamptz{{&got.Since, &want.Since}, {&got.Until, &want.Until}} {
			if pair[0].Time.Equal(pair[1].Time) {
				pair[0].Time = pair[1].Time
			}
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v %+v", query, err, got)
		}
	}
	for _, query := range []string{
		"state=NOPE", "state=FAIL%3BDONE", "state=,", "id=1.5", "id=9223372036854775808", "id=0x10", "since=soon", "until=2030-02-30", "group=%00", "q=%FF", "key=a%00b", "since=%00",
	} {
		_, err := askedTasks(query).Filter("UTC")
		if err = cmp.Or(askedTasks(query).Check(), err); !isWrong(err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func isWrong(err error) bool {
	var refused *edit.Refused
	return errors.As(err, &refused) && refused.Status == http.StatusBadRequest
}

// TestPlacesOfPages: a link to the next page leads to its place, whatever the due time.
func TestPlacesOfPages(t *testing.T) {
	t.Parallel()
	for _, due := range []pgtype.Timestamptz{
		{Valid: true, Time: time.Date(294276, 12, 31, 23, 59, 59, 999_999_000, time.UTC)},
		{Valid: true, Time: time.Date(-4712, 1, 1, 0, 0, 0, 1000, time.UTC)},
		{Valid: true, Time: time.Date(1999, 12, 31, 23, 59, 59, 1000, time.UTC)},
		{Valid: true, InfinityModifier: pgtype.Infinity},
		{Valid: true, InfinityModifier: pgtype.NegativeInfinity},
	} {
		c := askedTasks("sort=due").tasks(&rows.Page{After: &rows.Place{ID: math.MinInt64, Due: due}}, &rows.Filter{}, rows.Due)
		_, query, _ := strings.Cut(c.Next, "?")
		order, after, err := askedTasks(query).order()
		if err != nil || order != rows.Due || after.ID != math.MinInt64 || !after.Due.Time.Equal(due.Time) || after.Due.InfinityModifier != due.InfinityModifier {
			t.Errorf("%v: %s leads to %+v, %v", due, c.Next, after, err)
		}
	}
	for _, query := range []string{"sort=up", "after=x", "after=1.5", "sort=due&after=5", "sort=due&after=x+5", "sort=due&after=infinity+x"} {
		if _, _, err := askedTasks(query).order(); !isWrong(err) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// fields are values of forms, which have to be as they are.
var fields = regexp.MustCompile(` name="group" value="[^"]*"`)

// TestTasksAreShownWithTheirFilter: each part of it can be taken away, forms repeat it, and texts
// are only text.
func TestTasksAreShownWithTheirFilter(t *testing.T) {
	t.Parallel()
	at := pgtype.Timestamptz{Time: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), Valid: true}
	for _, h := range hostile {
		a := askedTasks(url.Values{"state": {"FAIL,DONE"}, "group": {h}, "after": {"77"}, "tz": {"UTC"}}.Encode())
		f := rows.Filter{States: []string{"FAIL", "DONE"}, Group: h, Text: "x", Hidden: rows.Hidden{Input: true}}
		task := rows.Task{ID: 1<<53 + 1, State: "FAIL", Group: h, Key: &h, Plan: at, Start: at, Stop: at, SQLState: &h, Error: &h, Input: &h}
		c := a.tasks(&rows.Page{Tasks: []rows.Task{task}, Count: rows.CountMost, Beyond: true, Late: true, After: &rows.Place{ID: 5}}, &f, rows.Newest)
		main, err := (&Sheet{Asked: a, Content: c}).Main()
		if err != nil {
			t.Fatal(err)
		}
		page := string(main)
		if strings.Count(page, "<tr") != 2 || strings.Count(page, `class="chip"`) != 3 || breaksOut(fields.ReplaceAllString(page, "")) {
			t.Errorf("%.30q: %.3000s", h, page)
		}
		for _, want := range []string{
			"over 10,000 tasks", `name="id" value="9007199254740993"`, `name="state" value="FAIL,DONE"`, `name="tz" value="UTC"`, `value="again"`, "after=77", "state=FAIL&amp;", "state=DONE&amp;",
		} {
			if !strings.Contains(page, want) {
				t.Errorf("%.30q: lacks %s", h, want)
			}
		}
		if next, _ := url.Parse(c.Next); next.Query().Get("after") != "5" || next.Query().Get("group") != h || len(c.Notes) != 2 || strings.Contains(c.Notes[0], "input") {
			t.Errorf("%.30q: %.200s, %q", h, c.Next, c.Notes)
		}
		a.User.Role = login.Reader
		if main, err = (&Sheet{Asked: a, Content: c}).Main(); err != nil || strings.Contains(string(main), `method="post"`) {
			t.Errorf("%v, a reader can act", err)
		}
	}
}

// TestNoFormActsOnMore: in the order of due times, no ended task is listed.
func TestNoFormActsOnMore(t *testing.T) {
	t.Parallel()
	a := askedTasks("state=FAIL&sort=due")
	c := a.tasks(&rows.Page{Beyond: true, Late: true, After: &rows.Place{ID: 5}}, &rows.Filter{States: []string{"FAIL"}}, rows.Due)
	if main, err := (&Sheet{Asked: a, Content: c}).Main(); err != nil || strings.Contains(string(main), `method="post"`) {
		t.Errorf("%v, %s", err, main)
	}
}

// TestTasksAreExactInJSON: ids beyond 2^53, infinite times and those before Christ.
func TestTasksAreExactInJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(rows.Task{
		ID: math.MaxInt64, State: "PLAN", Plan: pgtype.Timestamptz{Valid: true, InfinityModifier: pgtype.Infinity}, Start: pgtype.Timestamptz{Valid: true, Time: time.Date(-4712, 1, 1, 0, 0, 0, 0, time.UTC)},
	})
	if err != nil || !strings.HasPrefix(string(text), `{"id":9223372036854775807,"parent":null,"state":"PLAN","group":"","key":null,"plan":"infinity","start":"-4712-01-01T00:00:00Z","stop":null,`) {
		t.Errorf("%v %s", err, text)
	}
}
