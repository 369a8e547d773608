package work

import (
	"context"
	"errors"
	"time"

	"pgtaskd/work/lane"
	"pgtaskd/work/run"
)

// term is what belongs to one stretch of leading: nothing of it outlasts that. reign makes one when
// leadership begins, and endTerm drops it.
type term struct {
	began      time.Time // by the server's clock, after the lock
	look       looks
	scanning   place               // where the scan under way goes on
	orphans    map[int64]lane.Key  // under way, but not ours
	killed     []end               // tasks whose session was terminated
	soon       []*run.Task         // read before their plan, the earliest first
	unplanned  []unplanned         // found by the scan under way
	successors successors          // and what they wait for
	parked     map[int64]parked    // rows that could not be taken just now
	hopeless   map[int64]time.Time // rows that have refused a change, and since when
	leftAlone  map[int64]bool      // rows under way that take no end: their tasks would run again
	described  string              // fingerprint of the columns as queries has them
	zone       zone
	paths      zone // likewise of the search_path that ends under other roles are written with
	grouping   grouping
	path       *string // the search_path under which ends are written, nil: empty
	handed     bool    // the lead was given away: what runs goes on, and nothing else is ours to do
}

// looks say when what was last done.
type looks struct {
	full, scan, check, orphans, pace, spoke time.Time
	columns                                 time.Time // when they were looked at
	swept                                   time.Time // deletions that had to wait
	marks                                   time.Time // tasks were looked at that may have to be marked
	fullTook                                time.Duration
	planned                                 int64     // unplanned tasks with ids up to it were looked at
	low                                     time.Time // plans before were seen by a scan
	next                                    time.Time // earliest plan to come, zero: none
	foreseen                                time.Time // the one for which it was looked what to take before it
	dense                                   time.Time // and followed closely on the one before
	vain                                    time.Time // no task was found alone
	wanted                                  bool      // something may have become due
	later                                   bool      // only what is new was looked at: all of it when it may be
	stopped                                 time.Time // since when something may have been stopped or deleted, zero: nothing
	partial                                 bool      // not all that is due is known
	held                                    int       // due tasks that were left out, since their group is paused
}

// newTerm is a term that begins now, by the server's clock.
func newTerm(now time.Time) *term {
	return &term{
		began: now, successors: newSuccessors(),
		orphans: map[int64]lane.Key{}, parked: map[int64]parked{},
		hopeless: map[int64]time.Time{}, leftAlone: map[int64]bool{},
	}
}

// begin finds out where things stand when a term begins.
func (l *loop) begin(ctx context.Context) error {
	l.term = newTerm(l.Clock.Now())
	l.look.wanted = true
	if used, err := l.used(ctx); err != nil {
		return err
	} else if used {
		l.Lanes.Doubt()
	}
	if err := l.readGroups(ctx); err != nil {
		return err
	}
	l.withoutForgotten()
	if err := l.scan(ctx, true); err != nil {
		return err
	}
	return l.clear(ctx)
}

// endTerm gives up what belongs to the term, because of an error or not.
func (l *loop) endTerm(ctx context.Context, err error) {
	l.dismissCompleter()
	if errors.Is(err, errReadOnly) { // this session may write still, the next one may not
		_ = l.write(ctx)
	}
	l.dropWaiting()
	for _, key := range l.orphans {
		l.Lanes.Vacate(key)
	}
	for _, e := range l.killed {
		l.lost[e.task.Row.ID] = e
	}
	l.term = newTerm(time.Time{})
	l.closeLater(l.Pool.Stale(0)) // what took the control connection may have taken them, too
}

// old is when the sessions of an old leader were there at the latest: it opens none once it does
// not lead. The clock's reading may be a little early.
func (l *loop) old() time.Time { return l.began.Add(time.Second) }
