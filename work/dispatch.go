package work

import "time"

// dispatch starts a runner for each task that may start, as far as there are sessions. Whatever comes first in however many lanes and has to wait for a session, others do not wait
// for that: from time to time all lanes are looked at.
func (l *loop) dispatch() {
	fits := func(t *task) bool { return !l.crowded(t) && l.seated(t) }
	for t := l.lanes.Tryout(fits); t != nil; t = l.lanes.Tryout(fits) {
		l.launch(t)
	}
	for t := l.lanes.Start(fits); t != nil; t = l.lanes.Start(fits) {
		l.launch(t)
	}
	if time.Since(l.look.search) < searchTick {
		return
	}
	l.look.search = time.Now()
	for t := l.lanes.Search(fits); t != nil; t = l.lanes.Search(fits) {
		l.launch(t)
		if time.Since(l.look.search) >= searchMost {
			return
		}
	}
}

// launch starts a runner for the task.
func (l *loop) launch(t *task) {
	l.joins(t)
	l.crew.Go(func() { (&runner{loop: l}).serve(l.crew.Context(), t) })
}

// seated tells whether there is a session for the task, or one may be opened.
func (l *loop) seated(t *task) bool {
	return t.row.Remote != "" || !l.shortage.lasts() || l.seats.fits(t) || l.shortage.admit()
}
