package ends

import (
	"slices"
	"time"

	"pgtaskd/work/ledger"
	"pgtaskd/work/run"
)

// Entries takes out the ends that the ledger can write. Those that it does not write come back.
func (s *Ends) Entries() (entries []*ledger.Entry) {
	s.queue.fresh = slices.DeleteFunc(s.queue.fresh, func(e End) bool {
		if !e.plain() {
			return false
		}
		entries = append(entries, s.entryOf(e))
		return true
	})
	return entries
}

// plain tells an end that is like most: its task ran well, said nothing beside its output and does not
// repeat itself, and nothing has been in the way.
func (e *End) plain() bool {
	return e.Kind == run.Finished && e.Result != nil && e.Failure() == nil && e.Result.Notice == nil &&
		e.Task.Row.Single && e.Size() <= run.HeavyFrom && e.stage == fresh && e.backoff.Wait == 0
}

// entryOf is the end as the ledger writes it.
func (s *Ends) entryOf(e End) *ledger.Entry {
	entry := &ledger.Entry{
		Kind: ledger.Done, ID: e.Task.Row.ID, Version: e.readVersion(), PID: e.PID, Start: e.begun(), Stop: e.Stop,
		Exactly: e.Exactly, Xact: e.Xact, Tell: func(a ledger.Answer) { s.Later(func() { s.answered(&e, a) }) },
	}
	if entry.Output, entry.Notice = e.told(); e.Shed {
		entry.Kind = ledger.Settle
	}
	return entry
}

// answered takes down what the ledger has made of an end.
func (s *Ends) answered(e *End, a ledger.Answer) {
	switch a.Result {
	case ledger.Taken:
		id := e.Task.Row.ID
		if s.Tries.Forget(id); a.Empty {
			s.Deletes.Add(id)
		}
		s.Ended(e, "DONE")
		s.Forget(e)
		return
	case ledger.Withdrawn:
	default:
		e.stage = passed
	}
	s.queue.add(*e)
}

// DropLate forgets ends that have waited for somebody else for so long, of tasks that the next leader
// can as well run again: nothing of them is committed.
func (s *Ends) DropLate(patience time.Duration) {
	for _, e := range s.queue.take(func(e *End) bool {
		return !e.Known.Marked && e.Xact == 0 && time.Since(e.backoff.Since) > patience
	}) {
		s.Forget(&e)
	}
}
