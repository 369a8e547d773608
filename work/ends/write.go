package ends

import (
	"context"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
)

// Step writes what is to be written now. What cannot be written waits.
func (s *Ends) Step(ctx context.Context) error {
	began := time.Now()
	ends := s.queue.ripe(began)
	if err := s.dismiss(ctx, ends); err != nil {
		s.queue.putBack(ends, s.Drains())
		return err
	}
	for len(ends) > 0 && !s.queue.sizer.Late(began) {
		if s.Tasks[ends[0].Task.Row.ID] != ends[0].Known { // written before an error that came after it
			ends = ends[1:]
			continue
		}
		if s.queue.due(&ends[0]).After(time.Now()) { // one before it has met a lock
			s.queue.keep(ends[0], s.Drains())
			ends = ends[1:]
			continue
		}
		n, size := 1, ends[0].Size()
		for n < len(ends) && n < s.queue.togetherMost(&ends[0], &ends[n]) && size < writeMost {
			size += ends[n].Size()
			n++
		}
		if err := s.writeSome(ctx, ends[:n]); err != nil {
			s.queue.putBack(ends, s.Drains())
			return err
		}
		if ends = ends[n:]; size >= writeMost { // that took its time
			s.queue.putBack(ends, s.Drains())
			return nil
		}
	}
	s.queue.nextTime(ends, s.Drains())
	return nil
}

// dismiss ends the backends that have not obeyed: by themselves they would go on until they next
// speak to us, who have hung up. One of another role that we may not end notices that by itself.
func (s *Ends) dismiss(ctx context.Context, ends []End) error {
	var stay []pool.Backend
	for i := range ends {
		if ends[i].Stays {
			stay = append(stay, pool.Backend{PID: ends[i].PID, Since: ends[i].Since})
		}
	}
	if len(stay) == 0 {
		return nil
	}
	pids, since := pool.Columns(stay)
	if _, err := s.Control.Exec(ctx, "dismiss", pids, since); err != nil {
		return err
	}
	for i := range ends {
		ends[i].Stays = false
	}
	return nil
}

// writeMost is how much output is written in one statement, in bytes, so that others do not have to
// wait long for it.
const writeMost = 1 << 20

// writeSome writes ends of one kind.
func (s *Ends) writeSome(ctx context.Context, ends []End) error {
	switch ends[0].Kind {
	case run.Finished, run.Stopped:
		return s.writeEach(ctx, ends, finished)
	case run.Released:
		var written []End
		for _, e := range ends {
			if e.Task.Marks.Load() || e.Delay > 0 {
				written = append(written, e)
			} else {
				s.waitsAgain(&e)
			}
		}
		if len(written) > 0 {
			return s.writeEach(ctx, written, released)
		}
	case run.Lost, run.Killed:
		for _, e := range ends {
			s.Lost(e.Outcome)
		}
	}
	return nil
}

// writeEach writes ends. A row that takes no end at all is given up: it is reported, and stays as
// it is.
func (s *Ends) writeEach(ctx context.Context, ends []End, write func([]End) statement) error {
	first := time.Now()
	return change.Bisect(ends, func(ends []End) error {
		if s.queue.sizer.Late(first) {
			s.queue.nextTime(ends, s.Drains())
			return nil
		}
		began := time.Now()
		err := s.writeEnds(ctx, ends, write(ends))
		if s.queue.sizer.Took(len(ends), began, fault.Of(err)); ends[0].Task.TooLong && time.Since(began) > 2*hold.Turn {
			s.queue.sizer.Rest(began) // its repetition may copy what others wait for
		}
		return err
	}, func(e End, err error) error {
		switch e.refused(err) {
		case wait:
			s.queue.keep(e, s.Drains())
			if fault.Of(err) == fault.Locked {
				return s.tellOfLock(ctx, &e)
			}
		case again:
			s.tellLess(&e, err)
			return s.writeEach(ctx, []End{e}, write)
		default:
			s.leaveAlone(&e, err)
		}
		return nil
	})
}
