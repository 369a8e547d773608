package page

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/web/login"
	"pgtaskd/web/rows"
)

func TestTheLayoutShowsTextsAsText(t *testing.T) {
	t.Parallel()
	at := pgtype.Timestamptz{Time: time.Now(), Valid: true}
	for _, h := range append(hostile, "") {
		a := &Asked{
			Kind: &groupsPage, Query: url.Values{"group": {"g " + h}, "tz": {h}}, User: login.User{Name: h, Role: login.Reader}, Prefix: "/jobs",
			Targets: []Target{{Name: "db " + h}, {Name: "db/s/t"}},
		}
		sheet := &Sheet{Asked: a, Content: &Content{Notes: []string{h}}, Fault: "cannot be read", Heads: []rows.Head{
			{Target: "db " + h, Zone: h, Leader: h, Version: h, Since: at, Fault: h, LastFault: h, FaultAt: at, Unread: h},
			{Target: "db/s/t", Paused: []rows.Pause{{Group: h, Note: &h, By: &h, Until: at}}},
		}}
		var b strings.Builder
		if err := sheet.Write(&b); err != nil {
			t.Fatal(err)
		}
		page := strings.Replace(b.String(), `<script src="/jobs/static/app.js" defer></script>`, "", 1)
		if breaksOut(page) || strings.Count(page, "<section") != 2 || !strings.HasSuffix(page, "</html>\n") {
			t.Errorf("%.30q: %.3000s", h, page)
		}
	}
}

func TestManyCalmTargetsTakeOneLine(t *testing.T) {
	t.Parallel()
	sheet := &Sheet{Asked: &Asked{Kind: &homePage, Query: url.Values{"target": {"b"}}}, Heads: []rows.Head{
		{Target: "a", Leader: "x"}, {Target: "b", Leader: "x"}, {Target: "c"}, {Target: "d", Leader: "x", PausedJobs: 1}, {Target: "e", Leader: "x"},
	}}
	names := func(all []HeadView) (found string) {
		for _, h := range all {
			found += h.Target
		}
		return found
	}
	if loud, quiet := names(sheet.Loud()), names(sheet.Quiet()); loud != "bcd" || quiet != "ae" {
		t.Errorf("%s are shown, and %s in one line", loud, quiet)
	}
	sheet.Heads = sheet.Heads[:3]
	if quiet := names(sheet.Quiet()); quiet != "" {
		t.Errorf("of three targets, %s are in one line", quiet)
	}
}

func TestTargetsAreChosenWithTheFilter(t *testing.T) {
	t.Parallel()
	a := &Asked{Kind: &tasksPage, Query: url.Values{"state": {"FAIL"}, "id": {"7"}, "tz": {"UTC"}}, Targets: []Target{{Name: "a"}, {Name: "b"}}}
	all := (&Sheet{Asked: a}).Targets()
	if len(all) != 2 || !all[0].Current || all[1].Link != "/tasks?state=FAIL&target=b&tz=UTC" {
		t.Errorf("tasks: %+v", all)
	}
	a.Kind = &homePage
	if all = (&Sheet{Asked: a}).Targets(); len(all) != 3 || !all[0].Current || all[0].Name != "all targets" {
		t.Errorf("home: %+v", all)
	}
	if a.Kind = &taskPage; len((&Sheet{Asked: a}).Targets()) != 2 {
		t.Error("one task has a link to all targets")
	}
}
