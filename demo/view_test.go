package demo

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func at(seconds float64) *time.Time {
	at := now.Add(time.Duration(seconds * float64(time.Second)))
	return &at
}

func TestFit(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text    string
		columns int
		want    string
	}{
		{"", 3, "   "},
		{"abc", 5, "abc  "},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日… "},
		{"e\u0301e", 2, "e\u0301e"},
		{"e\u0301ee", 2, "e\u0301…"},
		{"abc", 0, ""},
		{"abc", -1, ""},
	}
	for _, c := range cases {
		if got := unicodeSigns.fit(c.text, c.columns); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

func TestResult(t *testing.T) {
	t.Parallel()
	cases := []struct {
		task task
		want string
	}{
		{task{state: "PLAN"}, "until somebody plans it"},
		{task{state: "PLAN", plan: at(1.25)}, "in 1.2 s"},
		{task{state: "PLAN", plan: at(-1)}, "waits its turn"},
		{task{state: "WORK", start: at(-2)}, "2.0 s"},
		{task{state: "STOP"}, "paused until somebody sets it to PLAN"},
		{task{state: "DONE", stop: at(0), output: "a\tb\n1\t\x1b[2J", notice: "NOTICE:  n\n"}, "a b ↵ 1 ?[2J ↵ NOTICE:  n"},
		{task{state: "FAIL", stop: at(0), output: "1", error: "ERROR:  no\nSTATEMENT:  x"}, "ERROR:  no"},
	}
	for _, c := range cases {
		c.task.seen = now
		if got := c.task.result(unicodeSigns); got != c.want {
			t.Errorf("%s: %q, want %q", c.task.state, got, c.want)
		}
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	h := history{states: map[int64]string{}, ends: map[string]int{}}
	first := task{id: 1, state: "DONE", created: at(0), stop: at(2)}
	second := task{id: 2, state: "PLAN", created: at(1)}
	ids := func(tasks []task) (ids []int64) {
		for _, t := range tasks {
			ids = append(ids, t.id)
		}
		return ids
	}
	if got := ids(h.take([]task{first, second})); !slices.Equal(got, []int64{2, 1}) {
		t.Errorf("in the order of the changes: %v", got)
	}
	second.state, second.start = "STOP", at(2) // told to stop, and still at work
	if got := h.take([]task{second}); len(got) != 1 || got[0].stage() != "WORK" {
		t.Errorf("a task that has still to stop: %v", got)
	}
	second.stop = at(3)
	if got := h.take([]task{second}); len(got) != 1 || h.String() != "1 done, 0 failed, 1 stopped" {
		t.Errorf("%v, %s", got, h)
	}
	if len(h.take([]task{second})) > 0 || len(h.states) != 1 {
		t.Errorf("nothing has changed; what is gone is forgotten: %v", h.states)
	}
}

func TestLane(t *testing.T) {
	t.Parallel()
	done := task{id: 1, group: "a", state: "DONE", created: at(0), stop: at(2)}
	work := task{id: 2, group: "a", state: "WORK", created: at(0), start: at(1), seen: now}
	wait := task{id: 3, group: "a", state: "PLAN", created: at(3)}
	repetition := task{id: 4, parent: 1, group: "a", state: "PLAN", created: at(3), repeats: true}
	cases := []struct {
		tasks []task
		face  int64
	}{
		{[]task{done, work, wait}, 2},
		{[]task{done, wait}, 3},
		{[]task{done, repetition}, 1},
		{[]task{repetition}, 4},
	}
	for _, c := range cases {
		if got := (lane{"a", c.tasks}).face().id; got != c.face {
			t.Errorf("%v: task %d stands for the lane", c.tasks, got)
		}
	}

	shown, cut := lane{"a", []task{done, done, work, wait, wait}}.strip(4)
	if len(shown) != 4 || cut || shown[1].id != 2 {
		t.Errorf("ended tasks give way: %v", shown)
	}
	if shown, cut = (lane{"a", []task{done, work, wait, wait}}).strip(2); !cut || shown[0].id != 2 {
		t.Errorf("what works is shown before what waits: %v", shown)
	}

	var seen []string
	other := task{id: 9, group: "b", state: "DONE", stop: at(5)}
	if all := lanes([]task{done, other}, &seen); len(all) != 2 || len(newest(all, 1)) != 1 || newest(all, 1)[0].group != "b" {
		t.Errorf("%v", all)
	}
	if all := lanes([]task{other, done}, &seen); all[0].group != "a" {
		t.Errorf("a lane stays in its place: %v", all)
	}
	if lanes([]task{other}, &seen); !slices.Equal(seen, []string{"b"}) {
		t.Errorf("an empty lane is forgotten: %v", seen)
	}
}

// TestScreen draws for a terminal whose size cannot be asked: 80 × 24.
func TestScreen(t *testing.T) {
	t.Parallel()
	out, err := os.Create(filepath.Join(t.TempDir(), "screen"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	command := "psql '" + strings.Repeat("x", 80*2-7) + "'" // two lines exactly
	s := &screen{signs: unicodeSigns, out: out, head: heading{version: "15.1", about: strings.Repeat("about ", 20), command: command}}
	var log bytes.Buffer
	s.kept = &kept{out: &log}
	var tasks []task
	for id := range int64(40) {
		tasks = append(tasks, task{id: id, group: "lane " + string(rune('A'+id)), state: "DONE", created: at(0), stop: at(float64(id)), input: "SELECT '\x1b[2J\r'", output: strings.Repeat("日本", 40), seen: now})
	}
	s.show(tasks, nil, history{})
	frame, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}

	if !bytes.Contains(frame, []byte(command+"\x1b[m\r\n")) {
		t.Error("the command is not whole, or something may erase its last letter")
	}
	const colours = `\x1b\[\d*m`
	text := regexp.MustCompile(colours+`|\x1b\[[HKJ]`).ReplaceAllString(string(frame), "")
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\r' && r != '\n' }); i >= 0 {
		t.Errorf("something else that moves the cursor: %q", text[i:])
	}
	rows := strings.Split(text, "\r\n")
	if len(rows) != 23 || rows[1] != command { // which takes two
		t.Errorf("%d rows:\n%s", len(rows)+1, text)
	}
	for i, row := range rows {
		if n := textWidth(row); i != 1 && n > 79 {
			t.Errorf("%d columns: %s", n, row)
		}
	}
	if !strings.Contains(text, string(rune('A'+39))) || strings.Contains(text, "lane A") {
		t.Error("the lanes with the latest news are to be shown")
	}

	logger := s.log(zerolog.New(&log))
	logger.Warn().Msg("trouble")
	if log.Len() > 0 || !strings.Contains(s.foot(79), "trouble") {
		t.Errorf("the log disturbs the screen: %s", log.String())
	}
	s.plain = true
	if strings.Contains(s.title(tasks, history{}, 79)+s.row(lane{"a", tasks}, 79), "\x1b") {
		t.Error("colours in spite of NO_COLOR")
	}
	s.close(history{})
	if !strings.Contains(log.String(), "trouble") {
		t.Error("the log is lost")
	}
}
