package read

import (
	"testing"
	"time"

	"pgtaskd/work/hold"
)

// TestTheNextLook: a full scan comes next if full scans stay within their share of the time; else
// a look at the news.
func TestTheNextLook(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		view view
		want look
	}{
		"nothing has happened":                      {view{rested: true}, nothing},
		"long not looked":                           {view{stale: true}, all},
		"wanted":                                    {view{wanted: true, rested: true}, all},
		"wanted a moment after a look":              {view{wanted: true, rested: true, paused: true}, all},
		"wanted, and a look takes long":             {view{wanted: true}, news},
		"wanted, takes long, a moment after a look": {view{wanted: true, paused: true}, nothing},
		"due":                                        {view{due: true, rested: true}, all},
		"due, and a look takes long":                 {view{due: true}, news},
		"due, takes long, a moment after a look":     {view{due: true, paused: true}, news},
		"only what is new was looked at":             {view{followUp: true, rested: true}, all},
		"only what is new, and a look takes long":    {view{followUp: true}, nothing},
		"only what is new, takes long, and wanted":   {view{followUp: true, wanted: true}, news},
		"a moment after a look that has found it":    {view{paused: true}, nothing},
		"long not looked, a moment after what's new": {view{stale: true, paused: true}, all},
	} {
		if got := choose(c.view); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestLooksTakeTheirShareOfTheTime: slow scans are rarer, at most by slowRest if few tasks are
// known.
func TestLooksTakeTheirShareOfTheTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		took         time.Duration
		listed, held int
		want         time.Duration
	}{
		{0, 0, 0, 0},
		{10 * time.Millisecond, 0, 0, 200 * time.Millisecond},
		{3 * time.Second, 0, 0, slowRest},
		{3 * time.Second, 15_000, 0, slowRest},
		{3 * time.Second, 100_000, 0, 20 * time.Second},
		{3 * time.Second, 40_000, 60_000, 20 * time.Second},
		{3 * time.Second, 1_000_000, 0, time.Minute},
	} {
		l := looks{took: c.took, held: c.held}
		if rest := l.rest(c.listed); rest != c.want {
			t.Errorf("%v after a look of %v, where %d are known and %d paused", rest, c.took, c.listed, c.held)
		}
	}
}

// TestManyThatAreMissingAskForALook: many missing rows ask for a full scan, but only some time
// after the last one. Rows that were found are subtracted.
func TestManyThatAreMissingAskForALook(t *testing.T) {
	t.Parallel()
	long := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		looks         looks
		missing, read int
		want          bool
		left          int
	}{
		"none":                         {looks{full: long}, 0, 100, false, 0},
		"few":                          {looks{full: long}, hold.Batch - 1, 0, false, hold.Batch - 1},
		"many":                         {looks{full: long}, hold.Batch, 0, true, hold.Batch},
		"some, and some before":        {looks{full: long, missing: hold.Batch - 1}, 1, 0, true, hold.Batch},
		"more are there":               {looks{full: long, missing: hold.Batch}, 0, 1, false, hold.Batch - 1},
		"a moment after a look":        {looks{full: time.Now()}, hold.Batch, 0, false, hold.Batch},
		"soon after one that was slow": {looks{full: time.Now().Add(-5 * time.Second), took: time.Minute, held: 1_000_000}, hold.Batch, 0, false, hold.Batch},
		"some time after it":           {looks{full: time.Now().Add(-30 * time.Second), took: time.Minute, held: 1_000_000}, hold.Batch, 0, true, hold.Batch},
	} {
		if got := c.looks.misses(c.missing, c.read, 0); got != c.want || c.looks.missing != c.left {
			t.Errorf("%s: %t, %d are missing", name, got, c.looks.missing)
		}
	}
}

// TestAChangeIsLookedAt: if few tasks are due, a change leads to a full scan at once, as a priority
// may have changed. Slow scans, and scans of many tasks, keep to their share of the time.
func TestAChangeIsLookedAt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		looks looks
		since time.Duration // the last look
		want  look
	}{
		"few":                      {looks{took: 300 * time.Millisecond}, 400 * time.Millisecond, all},
		"few, a moment after":      {looks{took: time.Second}, 0, news},
		"few, and a look is slow":  {looks{took: time.Minute}, 2 * time.Second, news},
		"few, but many are paused": {looks{took: time.Second, held: 100_000}, 2 * time.Second, news},
	} {
		s := unserved()
		s.looks = c.looks
		s.looks.full = time.Now().Add(-c.since)
		s.Changes.Want()
		now := time.Now()
		before := choose(s.view(now, false))
		s.Changed()
		if after := choose(s.view(now, false)); before != news || after != c.want {
			t.Errorf("%s: %v, and %v without a change", name, after, before)
		}
	}
}
