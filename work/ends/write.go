package ends

import (
	"context"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/pool"
)

// Step writes what is to be written now. What cannot be written waits.
func (s *Ends) Step(ctx context.Context) error {
	if err := s.dismiss(ctx); err != nil {
		return err
	}
	began := time.Now()
	ends := s.queue.ripe(began)
	for len(ends) > 0 && !s.queue.sizer.Late(began) {
		if s.queue.due(&ends[0]).After(time.Now()) { // one before it has met a lock
			s.queue.keep(ends[0])
			ends = ends[1:]
			continue
		}
		n, size := 1, ends[0].Size()
		for n < len(ends) && n < s.queue.togetherMost(&ends[0], &ends[n]) && size < writeMost {
			size += ends[n].Size()
			n++
		}
		err := s.writeEach(ctx, ends[:n])
		if err == nil {
			ends = ends[n:]
		}
		if err != nil || size >= writeMost { // that took its time
			unwritten := func(e *End) bool { return s.Tasks[e.Task.Row.ID] == e.Known } // some may be, before the error
			s.queue.putBack(ends, unwritten)
			return err
		}
	}
	s.queue.nextTime(ends)
	return nil
}

// dismiss ends the backends that have not obeyed: by themselves they would go on until they next
// speak to us, who have hung up. One of another role that we may not end notices that by itself.
func (s *Ends) dismiss(ctx context.Context) error {
	if len(s.stay) == 0 {
		return nil
	}
	pids, since := pool.Columns(s.stay)
	_, err := s.Control.Exec(ctx, "dismiss", pids, since)
	if err == nil {
		s.stay = nil
	}
	return err
}

// writeMost is how much output one statement writes, in bytes: others wait for it.
const writeMost = 1 << 20

// writeEach writes ends of one kind. A row that takes no end at all is given up: it is reported, and
// stays as it is.
func (s *Ends) writeEach(ctx context.Context, ends []End) error {
	first := time.Now()
	return change.Bisect(ends, func(ends []End) error {
		if s.queue.sizer.Late(first) {
			s.queue.nextTime(ends)
			return nil
		}
		began := time.Now()
		err := s.writeEnds(ctx, ends)
		if s.queue.sizer.Took(len(ends), began, fault.Of(err)); ends[0].Task.TooLong && time.Since(began) > 2*hold.Turn {
			s.queue.sizer.Rest(began) // its repetition may copy what others wait for
		}
		return err
	}, func(e End, err error) error {
		switch e.refused(err) {
		case wait:
			s.queue.keep(e)
			if fault.Of(err) == fault.Locked {
				return s.tellOfLock(ctx, &e)
			}
		case again:
			s.tellLess(&e, err)
			return s.writeEach(ctx, []End{e})
		default:
			s.leaveAlone(&e, err)
		}
		return nil
	})
}
