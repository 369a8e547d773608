package top

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gdamore/tcell/v2"

	"pgtaskd/web/page"
	"pgtaskd/web/rows"
)

// Looks of rows. A terminal without colours shows none, so words say the same.
var (
	plain = tcell.StyleDefault
	bad   = plain.Foreground(tcell.ColorRed)
	late  = plain.Foreground(tcell.ColorOlive) // the dark yellow of all terminals
	good  = plain.Foreground(tcell.ColorGreen)
	calm  = plain.Dim(true)
)

const runsMost = 10 // in a row of jobs

// jobs reads the jobs, trouble first, as the home page does.
func (r *reader) jobs(ctx context.Context) (table, error) {
	t := table{columns: []column{
		{name: "JOB", least: 14},
		{name: "STATE", least: most},
		{name: "TROUBLE", least: 24, rank: 1},
		{name: "NEXT RUN", least: most, rank: 2},
		{name: "WHEN", least: 20, rank: 5},
		{name: "LAST RUNS", least: most, rank: 4},
		{name: "ID", least: most, rank: 6, number: true},
		{name: "GROUP", least: 10, rank: 7},
		{name: "TARGET", least: 12, rank: 3},
	}}
	jobs, notes, err := page.Jobs(ctx, r.sessions, r.targets, rows.Hidden{})
	t.notes = notes
	for i := range jobs {
		j := &jobs[i]
		at := slices.IndexFunc(r.targets, func(t page.Target) bool { return t.Name == j.Target })
		id, zone := strconv.FormatInt(j.ID, 10), text(j.Zone)
		state := j.State + " " + page.Word(j.State)
		if j.Ended() {
			state = j.State + " " + page.Word(j.State, j.LastStop)
		}
		t.add(row{
			key: fmt.Sprint(at, " ", id), target: at, id: j.ID, paused: j.State == "STOP" && !j.Ended(), style: jobStyle(j),
			cells: []string{
				cmp.Or(text(j.Key), "task "+id), state, trouble(j), page.Clock(j.NextRun, zone), when(j), runs(j.Runs), id, j.Group, r.name(at),
			},
		})
	}
	return t, err
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func jobStyle(j *rows.Job) tcell.Style {
	switch {
	case j.Failing():
		return bad
	case j.Late != nil:
		return late
	case j.Paused || j.Ended():
		return calm
	case j.State == "WORK":
		return good
	}
	return plain
}

// trouble says what is wrong with a job.
func trouble(j *rows.Job) string {
	var all []string
	if j.Late != nil {
		all = append(all, "late by "+page.Duration(j.Late))
	}
	if j.Paused {
		all = append(all, strings.TrimSuffix("paused: "+text(j.PausedBy), ": "))
	}
	if j.Failures == 1 {
		all = append(all, "failed once")
	} else if j.Failures > 1 {
		all = append(all, fmt.Sprintf("failed %d times", j.Failures))
	}
	if j.Error != nil {
		all = append(all, *j.Error)
	}
	return strings.Join(all, ", ")
}

// when says when a job runs.
func when(j *rows.Job) string {
	switch {
	case j.Words != nil:
		return *j.Words + " " + text(j.Zone)
	case j.Expression != nil:
		return *j.Expression + " " + text(j.Zone)
	}
	return ""
}

// runs writes a character for each of the last runs.
func runs(all []rows.Run) string {
	var b strings.Builder
	for _, r := range all[max(0, len(all)-runsMost):] {
		if r.State == "DONE" {
			b.WriteByte('.')
		} else if r.State != "" {
			b.WriteString(r.State[:1])
		}
	}
	return b.String()
}

// running reads what runs.
func (r *reader) running(ctx context.Context, heads []rows.Head) (table, error) {
	t := table{columns: []column{
		{name: "TASK", least: most, number: true},
		{name: "FOR", least: most, number: true},
		{name: "KEY", least: 12, rank: 1},
		{name: "WAITS FOR", least: 18, rank: 2},
		{name: "USUAL", least: most, rank: 4, number: true},
		{name: "GROUP", least: 12, rank: 3},
		{name: "SINCE", least: most, rank: 6},
		{name: "SQL", least: 24, rank: 5},
		{name: "TARGET", least: 12, rank: 2},
	}}
	found, notes, err := page.Each(ctx, r.sessions, r.targets, rows.Hidden{}, page.Running)
	slices.SortStableFunc(found, func(a, b page.Found[rows.Running]) int { return a.Row.Since.Time.Compare(b.Row.Since.Time) })
	t.notes = notes
	for _, f := range found {
		style, id, waits := plain, strconv.FormatInt(f.Row.ID, 10), waits(f.Row)
		if f.Row.State == "STOP" {
			style, waits = late, "is being cancelled; "+waits
		}
		if f.Row.Over {
			style, waits = late, "longer than usual; "+waits
		}
		t.add(row{key: fmt.Sprint(f.Target, " ", id), target: f.Target, id: f.Row.ID, style: style, cells: []string{
			id, page.Duration(f.Row.Seconds), text(f.Row.Key), strings.TrimSuffix(waits, "; "), page.Duration(f.Row.Usual), f.Row.Group,
			page.Clock(f.Row.Since, heads[f.Target].Zone), text(f.Row.Query), r.name(f.Target),
		}})
	}
	return t, err
}

// waits says what a task waits for, and who blocks it.
func waits(r rows.Running) string {
	var all []string
	switch {
	case r.Remote:
		all = append(all, "runs on a remote")
	case r.WaitType != nil:
		all = append(all, *r.WaitType+": "+text(r.WaitEvent))
	}
	for _, b := range r.Blockers {
		by := fmt.Sprintf("blocked by pid %d", b.PID)
		switch {
		case b.PID == 0:
			by = "blocked by a prepared transaction"
		case b.Task != 0:
			by += fmt.Sprintf(" (task %d)", b.Task)
		case b.Role != nil:
			by += " of role " + *b.Role
		}
		all = append(all, by)
	}
	return strings.Join(all, "; ")
}

// failures reads the errors, grouped. A row stands for its example.
func (r *reader) failures(ctx context.Context, heads []rows.Head) (table, error) {
	t := table{columns: []column{
		{name: "COUNT", least: most, number: true},
		{name: "ERROR", least: 28},
		{name: "LAST", least: most, rank: 1},
		{name: "EXAMPLE", least: most, rank: 2, number: true},
		{name: "SQLSTATE", least: most, rank: 4},
		{name: "FIRST", least: most, rank: 5},
		{name: "TARGET", least: 12, rank: 3},
	}}
	found, notes, err := page.Each(ctx, r.sessions, r.targets, rows.Hidden{}, page.Errors)
	slices.SortStableFunc(found, func(a, b page.Found[rows.Failure]) int { return cmp.Compare(b.Row.Count, a.Row.Count) })
	t.notes = notes
	for _, f := range found {
		zone := heads[f.Target].Zone
		t.add(row{key: fmt.Sprint(f.Target, " ", text(f.Row.SQLState), " ", f.Row.Error), target: f.Target, id: f.Row.Example, cells: []string{
			page.Count(f.Row.Count), f.Row.Error, page.Clock(f.Row.Last, zone), strconv.FormatInt(f.Row.Example, 10), text(f.Row.SQLState),
			page.Clock(f.Row.First, zone), r.name(f.Target),
		}})
	}
	return t, err
}
