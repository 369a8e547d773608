package rows

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// TestLanesShowRunsAndPlans: what ran lately and runs, and the beats to come with their usual time;
// plans of one group that meet are marked.
func TestLanesShowRunsAndPlans(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	written(t, tasks,
		`INSERT INTO task (id, input, key, "group", state, start, stop, plan) VALUES
		(1, '', NULL, 'past', 'DONE', now() - interval '40 min', now() - interval '20 min', now()),
		(2, '', 'k', 'past', 'FAIL', now() - interval '40 min', now() - interval '10 min', now()),
		(3, '', NULL, 'past', 'WORK', now() - interval '1 h', NULL, now() - interval '1 h'),
		(4, '', NULL, 'past', 'PLAN', NULL, NULL, now() - interval '1 h'),
		(5, '', NULL, 'g', 'PLAN', NULL, NULL, now() + interval '65 min'),
		(6, '', NULL, 'g', 'PLAN', NULL, NULL, now() + interval '80 min'),
		(7, '', NULL, 'g', 'PLAN', NULL, NULL, now() + interval '25 h'),
		(8, '', NULL, 'h', 'PLAN', NULL, NULL, now() + interval '65 min')`,
		`INSERT INTO task (id, input, "group", repeat, state, start, stop, plan, next, parent) VALUES
		(20, '', 'g', '6 h', 'DONE', now() - interval '5 h', now() - interval '290 min', now() - interval '5 h', 21, NULL),
		(21, '', 'g', '6 h', 'PLAN', NULL, NULL, now() + interval '1 h', NULL, 20)`)
	var l *Lanes
	err := s.Read(t.Context(), to, patience, func(ctx context.Context, b *Table) (err error) {
		l, err = b.Lanes(ctx, Hidden{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range l.Spans {
		got = append(got, fmt.Sprint(s.Group, " ", s.ID, " ", s.State, " ", s.begin().Sub(l.Now).Round(time.Minute), " ", s.Usual != nil, " ", s.Overlaps))
	}
	want := []string{
		"past 3 WORK -1h0m0s true false", "past 2 FAIL -40m0s true false",
		"g 21 PLAN 1h0m0s true true", "g 5 PLAN 1h5m0s true true", "h 8 PLAN 1h5m0s false false", "g 6 PLAN 1h20m0s true false",
		"g 21 PLAN 7h0m0s true false", "g 21 PLAN 13h0m0s true false", "g 21 PLAN 19h0m0s true false",
	}
	if !slices.Equal(got, want) || !l.AllJobs || !l.AllPlans || !l.AllRows {
		t.Errorf("%q %+v", got, l)
	}
}

// TestLongNamesOfGroups: whoever may insert some must not use up the controller's memory.
func TestLongNamesOfGroups(t *testing.T) {
	t.Parallel()
	to, tasks, s := made(t)
	written(t, tasks, `INSERT INTO task (id, input, key, "group", state, start, stop, plan) VALUES
		(1, '', NULL, repeat('g', 60000), 'DONE', now() - interval '9 min', now() - interval '8 min', now()),
		(2, '', NULL, repeat('g', 60000), 'WORK', now() - interval '9 min', NULL, now()),
		(3, '', NULL, repeat('g', 60000), 'PLAN', NULL, NULL, now() + interval '9 min')`,
		`INSERT INTO task (id, input, "group", repeat, plan) VALUES (4, '', repeat('g', 60000), '6 h', now() + interval '9 min')`)
	err := s.Read(t.Context(), to, patience, func(ctx context.Context, b *Table) error {
		l, err := b.Lanes(ctx, Hidden{})
		if err == nil && len(l.Spans) < 4 {
			t.Errorf("%+v", l)
		}
		for i := 0; err == nil && i < len(l.Spans); i++ {
			if n := len(l.Spans[i].Group); n != 1000 {
				t.Errorf("task %d: %d bytes", l.Spans[i].ID, n)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPlansAreThoseOfTheLeader: a run that takes longer than the period passes over beats, unless
// the job overlaps; with drift the period counts from the end.
func TestPlansAreThoseOfTheLeader(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 3, 30, 23, 30, 0, 0, time.UTC) // Berlin's clock skips an hour at 01:00
	zone, berlin := "UTC", "Europe/Berlin"
	text := func(s string) *string { return &s }
	at := func(d time.Duration) pgtype.Timestamptz { return stamp(now.Add(d)) }
	hours := pgtype.Interval{Microseconds: 3_600_000_000, Valid: true}
	for name, c := range map[string]struct {
		job  Job
		want string
	}{
		"cron":      {Job{State: "PLAN", Zone: &zone, NextRun: at(30 * time.Minute), repeats: repeats{Cron: text("0 */8 * * *")}}, "[00:00 08:00 16:00]"},
		"own zone":  {Job{State: "PLAN", Zone: &berlin, NextRun: at(30 * time.Minute), repeats: repeats{Cron: text("CRON_TZ=Europe/Berlin 0 2,12 * * *")}}, "[00:00 10:00]"},
		"unplanned": {Job{State: "PLAN", Zone: &zone, repeats: repeats{Cron: text("0 12 * * *")}}, "[12:00]"},
		"parked":    {Job{State: "PLAN", Zone: &zone, NextRun: pgtype.Timestamptz{Valid: true, InfinityModifier: pgtype.Infinity}, repeats: repeats{Cron: text("0 12 * * *")}}, "[]"},
		"paused":    {Job{State: "STOP", Paused: true, Zone: &zone, repeats: repeats{Cron: text("0 12 * * *")}}, "[]"},
		"repeat":    {Job{State: "PLAN", Zone: &zone, NextRun: at(0), repeats: repeats{Repeat: pgtype.Interval{Days: 1}, Beat: at(0)}}, "[23:30 23:30]"},
		"skips":     {Job{State: "PLAN", Zone: &zone, NextRun: at(time.Hour), repeats: repeats{Repeat: hours, Beat: at(time.Hour), Until: at(9 * time.Hour)}}, "[00:30 02:30 04:30 06:30 08:30]"},
		"overlaps":  {Job{State: "PLAN", Zone: &zone, NextRun: at(time.Hour), repeats: repeats{Repeat: hours, Beat: at(time.Hour), Until: at(4 * time.Hour), Overlap: true}}, "[00:30 01:30 02:30 03:30]"},
		"drift":     {Job{State: "PLAN", Zone: &zone, NextRun: at(time.Hour), repeats: repeats{Repeat: hours, Drift: true, Beat: at(time.Hour), Until: at(8 * time.Hour)}}, "[00:30 03:00 05:30]"},
		"a retry":   {Job{State: "PLAN", Zone: &zone, NextRun: at(10 * time.Minute), repeats: repeats{Repeat: hours, Beat: at(-5 * time.Minute), Until: at(3 * time.Hour)}}, "[23:40 01:25]"},
		"runs":      {Job{State: "WORK", Zone: &zone, LastStart: at(-time.Hour), repeats: repeats{Repeat: hours, Beat: at(-time.Hour), Until: at(3 * time.Hour)}}, "[00:30 02:30]"},
		"no zone":   {Job{State: "PLAN", Zone: text("Nowhere"), NextRun: at(0), repeats: repeats{Repeat: hours}}, "[]"},
		"odd":       {Job{State: "PLAN", Zone: &zone, NextRun: at(0), repeats: repeats{Cron: text("x")}}, "[]"},
	} {
		usual := 90 * time.Minute
		got := []string{}
		for _, at := range c.job.plans(now, now.Add(LanesAhead), usual, 5) {
			got = append(got, at.UTC().Format("15:04"))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, not %s", name, got, c.want)
		}
	}
}
