package page

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/web/login"
	"pgtaskd/web/rows"
	"pgtaskd/work"
)

// shown returns what a page shows to an operator.
func shown(t *testing.T, kind *Kind, c *Content) string {
	t.Helper()
	a := &Asked{Kind: kind, Query: url.Values{}, User: login.User{Role: login.Operator}, Prefix: "/jobs", Targets: []Target{{work.Target{}, "db/s/t"}}}
	main, err := (&Sheet{Asked: a, Content: c}).Main()
	if err != nil {
		t.Fatal(err)
	}
	return string(main)
}

var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</title></svg><script>x</script>`, `javascript:alert(1)`,
	"a\u202eb", "\x1b[31m", "a\x00b", `{{.}}`, `&lt;b&gt;`, strings.Repeat("x", 1<<16),
}

// breaksOut tells whether a text has become more than text.
func breaksOut(page string) bool {
	return strings.ContainsAny(page, "\x1b\u202e\x00") || strings.Contains(page, "<script") || strings.Contains(page, "<img") || strings.Contains(page, `="javascript`) ||
		strings.Contains(page, "' on")
}

// TestJobsAreShownAsTextWhateverTheyAreCalled: the same goes for lanes.
func TestJobsAreShownAsTextWhateverTheyAreCalled(t *testing.T) {
	t.Parallel()
	at := pgtype.Timestamptz{Time: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), Valid: true}
	for _, h := range hostile {
		zone := "UTC"
		job := rows.Job{Target: "db/s/t", ID: 1<<53 + 1, Key: &h, Group: h, State: "FAIL", Expression: &h, Words: &h, Zone: &zone, NextRun: at, Error: &h, PausedBy: &h, Paused: true, Runs: []rows.Run{{ID: 1, Start: at, Stop: at, State: h}}}
		page := shown(t, &homePage, &Content{View: []rows.Job{job}})
		if strings.Count(page, "<tr") != 2 || strings.Count(page, "<rect") != 1 || !strings.Contains(page, `value="9007199254740993"`) || breaksOut(page) {
			t.Errorf("%.30q: %.2000s", h, page)
		}
		c := chart{from: at.Time.Add(-time.Minute), to: at.Time.Add(time.Minute), now: at.Time, step: time.Minute, spans: []*rows.Span{{Group: h, ID: 1, Key: &h, State: "PLAN", Planned: at, Overlaps: true}}}
		svg := string(c.draw(&Asked{Kind: &lanesPage, Query: url.Values{"target": {h}}, Targets: []Target{{Name: h}}}, "UTC"))
		if breaksOut(svg) || strings.Count(svg, "<a ") != 2 || strings.Count(svg, "</svg>") != 1 {
			t.Errorf("%.30q: %.2000s", h, svg)
		}
	}
}

// TestBarsShowTheLastRuns: as high as they took long, in the colour of their end, with a link.
func TestBarsShowTheLastRuns(t *testing.T) {
	t.Parallel()
	start := time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)
	moment := func(seconds int) pgtype.Timestamptz {
		return pgtype.Timestamptz{Time: start.Add(time.Duration(seconds) * time.Second), Valid: true}
	}
	zone := "Asia/Tokyo"
	job := rows.Job{Target: "db/s/t", ID: 9, State: "PLAN", Zone: &zone, NextRun: moment(0), Runs: []rows.Run{
		{ID: 7, Start: moment(0), Stop: moment(100), State: "DONE"}, {ID: 8, Start: moment(200), Stop: moment(250), State: "FAIL"}, {ID: 9, Stop: moment(300), State: "GONE"},
	}}
	page := shown(t, &homePage, &Content{View: []rows.Job{job}})
	for _, want := range []string{
		`<a href="/jobs/task?id=7&amp;target=db%2Fs%2Ft"><rect class="done" x="162" y="0" width="5" height="24"><title>7 done, 2030-01-02 12:00:00 JST, 1 min 40 s</title>`,
		`<rect class="failed" x="168" y="12" width="5" height="12"><title>8 failed, 2030-01-02 12:03:20 JST, 50 s</title>`,
		`<rect class="expired" x="174" y="21" width="5" height="3"><title>9 expired, 2030-01-02 12:05:00 JST</title>`,
		`<time datetime="2030-01-02T12:00:00&#43;09:00"`, `value="pause"`, `value="run"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
}

// TestJobsInJSON: NULL is null, and ids are exact.
func TestJobsInJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal([]rows.Job{{Target: "t", ID: 1<<53 + 1, Group: "g", State: "PLAN", Runs: []rows.Run{}}})
	want := `[{"target":"t","id":9007199254740993,"key":null,"group":"g","state":"PLAN","expression":null,"words":null,"zone":null,"next_run":null,"last_start":null,` +
		`"last_stop":null,"last_state":null,"error":null,"failures":0,"paused":false,"paused_by":null,"late":null,"runs":[]}]`
	if err != nil || string(text) != want {
		t.Error(fmt.Sprint(err, " ", string(text)))
	}
}
