package browser

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"pgtaskd/server/servertest"
)

// TestATaskAppearsByItself: in less than two seconds, without a reload.
func TestATaskAppearsByItself(t *testing.T) {
	t.Parallel()
	s := play(t, nil)
	b := s.open("wall")
	b.visit("/tasks")
	b.becomes("the list is live", `document.querySelector('#live')?.className === 'fresh'`)
	eval[bool](b, "window.kept = true")
	began := time.Now()
	s.exec(`INSERT INTO task (input, "group") VALUES ('SELECT 42', 'appears')`)
	b.becomes("the task is there", `document.body.innerText.includes('appears')`)
	if took := time.Since(began); took > servertest.Limit(2*time.Second) {
		t.Errorf("it came after %s", took)
	}
	if !eval[bool](b, "window.kept === true") {
		t.Error("the page was loaded again")
	}
}

// TestARunningTaskIsCancelled by the button beside it.
func TestARunningTaskIsCancelled(t *testing.T) {
	t.Parallel()
	s := play(t, nil)
	s.exec(`INSERT INTO task (input, "group") VALUES ('SELECT pg_sleep(600)', 'sleeper')`)
	b := s.open("ann")
	b.visit("/running")
	b.becomes("it is shown as running", `document.querySelector('tr[data-key] button[value=cancel]')`)
	b.click("tr[data-key] button[value=cancel]")
	servertest.Wait(t, patience, "the end", func() bool { return s.get("SELECT state = 'STOP' AND stop IS NOT NULL FROM task") == "true" }, b.text)
	b.becomes("it is not shown any more", `location.pathname.endsWith('/running') && !document.querySelector('tr[data-key]')`)
}

// TestFormsWithoutTLS: a browser trusts only a loopback address without TLS. From others it says
// less about where a form comes from.
func TestFormsWithoutTLS(t *testing.T) {
	t.Parallel()
	s := play(t, func(http map[string]any) { http["hosts"] = []string{elsewhere} })
	s.url = strings.Replace(s.url, "127.0.0.1", elsewhere, 1)
	s.exec("INSERT INTO task (input, plan) VALUES ('SELECT 1', 'infinity')")
	b := s.open("ann")
	b.visit("/task?id=1")
	b.click("button[value=pause]")
	servertest.Wait(t, patience, "the pause", func() bool { return s.get("SELECT state FROM task") == "STOP" }, b.text)
}

// TestAFilterHolds through paging, an act, a reload, and the way back.
func TestAFilterHolds(t *testing.T) {
	t.Parallel()
	s := play(t, nil)
	s.exec(`INSERT INTO task (input, "group", plan) SELECT 'SELECT ' || n, CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END, 'infinity' FROM generate_series(1, 240) AS n`)
	b := s.open("ann")
	only := func(when string) {
		t.Helper()
		b.becomes("only the group is shown "+when, `location.search.includes('group=even') && document.querySelector('tr[data-key]') && !document.querySelector('main').innerText.includes('odd')`)
	}
	b.visit("/tasks?group=even&state=PLAN")
	only("at first")
	b.click("a[rel=next]")
	b.becomes("the second page", `location.search.includes('after=')`)
	only("on the second page")
	first := eval[string](b, `document.querySelector('tr[data-key]').dataset.key`)
	b.click("tr[data-key] button[value=pause]")
	servertest.Wait(t, patience, "the pause", func() bool { return s.get("SELECT count(*) FROM task WHERE state = 'STOP'") == "1" })
	b.becomes("the row is gone", fmt.Sprintf(`!document.querySelector('tr[data-key="%s"]')`, first))
	only("after the act")
	eval[bool](b, "window.old = true")
	eval[bool](b, "location.reload(), true")
	b.becomes("it is loaded again", "!window.old")
	only("after a reload")
	b.visit("/groups")
	eval[bool](b, "history.back(), true")
	only("on the way back")
}

// TestAnActOnAllThatMatch asks first, is done in the background, and leads back to the filter.
func TestAnActOnAllThatMatch(t *testing.T) {
	t.Parallel()
	s := play(t, nil)
	s.exec(`INSERT INTO task (input, "group", plan) SELECT 'SELECT ' || n, CASE WHEN n % 2 = 0 THEN E'ev\n"en\'' ELSE 'odd' END, 'infinity' FROM generate_series(1, 1400) AS n`)
	b := s.open("ann")
	b.visit("/tasks?group=" + url.QueryEscape("ev\n\"en'"))
	eval[bool](b, `document.querySelector('details.all').open = true`)
	b.click("details.all button[value=pause]")
	b.becomes("it says how many", `document.querySelector('input[name=token]') && document.querySelector('main').innerText.includes('700 tasks match')`)
	b.reads("pgtaskd act pause", "UPDATE")
	b.shoot("act", 1280, 800, false)
	b.click("main form.acts button[name=do]")
	servertest.Wait(t, patience, "the end", func() bool {
		return s.get("SELECT count(*) FROM task WHERE state = 'STOP' AND \"group\" <> 'odd'") == "700"
	}, b.text)
	b.becomes("the filter holds", `location.pathname.endsWith('/tasks') && location.search.includes('group=ev')`)
	b.visit("/acts")
	b.becomes("it is done", `document.querySelector('tr[data-key]').innerText.includes('700 of 700')`)
}

// TestAReaderCannotAct: by no button of any page, and by no request.
func TestAReaderCannotAct(t *testing.T) {
	t.Parallel()
	s := play(t, nil)
	s.exec(`INSERT INTO task (input, "group", key, cron) VALUES ('SELECT pg_sleep(600)', 'sleeper', NULL, NULL), ('SELECT 1/0', 'fails', NULL, NULL), ('SELECT 2', 'later', 'job', '0 0 1 1 *')`)
	s.exec(`INSERT INTO task_group ("group", slots) VALUES ('sleeper', 3)`)
	servertest.Wait(t, patience, "a task that runs, and one that has failed", func() bool {
		return s.get("SELECT count(*) FROM task WHERE state IN ('WORK', 'FAIL')") == "2"
	})
	operator, reader := s.open("ann"), s.open("wall")
	id := s.get("SELECT id FROM task WHERE state = 'WORK'")
	acts := 0
	for _, path := range pages(id) {
		operator.visit(path)
		acts += eval[int](operator, `document.querySelectorAll('form[method=post]:not([action$=logout])').length`)
		reader.visit(path)
		if n := eval[int](reader, `document.querySelectorAll('form[method=post]:not([action$=logout])').length`); n > 0 {
			t.Errorf("%s has %d forms for a reader", path, n)
		}
	}
	if acts < 5 {
		t.Errorf("an operator has %d forms on all pages", acts)
	}
	form := url.Values{"target": {s.target()}, "do": {"cancel"}, "id": {id}}
	for user, want := range map[string]int{"": http.StatusUnauthorized, "wall": http.StatusForbidden} {
		for _, path := range []string{"/act", "/group"} {
			if status, _ := s.ask(http.MethodPost, path, user, form); status != want {
				t.Errorf("POST %s as %q is answered by %d, not %d", path, user, status, want)
			}
		}
	}
	if got := s.get("SELECT state FROM task WHERE id = $1", id); got != "WORK" {
		t.Errorf("the task is %s", got)
	}
}

// pages are all pages; id is that of a task.
func pages(id string) []string {
	return []string{"/", "/tasks", "/task?id=" + id, "/running", "/lanes", "/errors", "/groups", "/acts"}
}

// TestWithoutJavaScript a person logs in, sees, filters and acts as well.
func TestWithoutJavaScript(t *testing.T) {
	t.Parallel()
	s := play(t, nil)
	s.exec(`INSERT INTO task (input, "group", plan) SELECT 'SELECT ' || n, 'g' || n % 3, 'infinity' FROM generate_series(1, 120) AS n`)
	b := s.open("ann", withoutJavaScript())
	b.visit("/tasks")
	b.do(chromedp.SendKeys(chromedp.CSS("input[name=group]"), "g1"), chromedp.Submit(chromedp.CSS("input[name=group]")))
	b.reads("g1", "40")
	b.do(chromedp.Click(chromedp.CSS("details.all summary")), chromedp.Click(chromedp.CSS("details.all button[value=pause]")))
	b.reads("40")
	b.do(chromedp.Click(chromedp.CSS("form:has(input[name=token]) button")))
	servertest.Wait(t, patience, "the pause of all", func() bool {
		return s.get("SELECT count(*) FROM task WHERE state = 'STOP' AND stop IS NULL") == "40"
	})
	if got := s.get(`SELECT count(*) FROM task WHERE state = 'STOP' AND "group" <> 'g1'`); got != "0" {
		t.Errorf("%s others were paused", got)
	}
}

// reads waits until the page, which may run no JavaScript, has all these texts.
func (b *tab) reads(texts ...string) {
	b.Helper()
	var shown string
	servertest.Wait(b.T, patience, fmt.Sprintf("%q", texts), func() bool {
		text, err := chromedp.Run(b.ctx, chromedp.Text(chromedp.CSS("body")))
		shown = text
		if err != nil {
			return false
		}
		for _, want := range texts {
			if !strings.Contains(text, want) {
				return false
			}
		}
		return true
	}, func() string { return shown })
}
