package model

// xids are the transaction ids of one server. After a crash, the next id follows the last one that
// the log names.
type xids struct {
	next, logged uint8
	committed    uint16 // a bit for each id
}

// give hands out an id.
func (x *xids) give() uint8 {
	x.next++
	return x.next - 1
}

// commit writes to the log that a transaction has committed.
func (x *xids) commit(xact uint8) {
	x.committed |= 1 << xact
	x.logged = max(x.logged, xact)
}

func (s *state) xids(far bool) *xids {
	if far {
		return &s.far.x
	}
	return &s.table.x
}

// effects counts the transactions that have committed: two bits for each request of each task.
type effects [maxTasks]uint8

func (e *effects) of(t int, request uint8) uint8 { return e[t] >> (2 * request) & 3 }

func (e *effects) add(t int, request uint8) { e[t] += 1 << (2 * request) }

func (s *state) effects(far bool) *effects {
	if far {
		return &s.far.effects
	}
	return &s.table.effects
}

// status is the answer of pg_xact_status.
type status uint8

const (
	aborted status = iota
	inProgress
	committed
	inFuture // the server has not handed this id out
	untold   // the judge cannot tell
)

func (s *state) status(xact uint8, far bool) status {
	for _, b := range s.sessions {
		if b.alive && b.far == far && b.run.xact == xact && b.run.open() {
			return inProgress
		}
	}
	ids := s.xids(far)
	switch {
	case xact >= ids.next:
		return inFuture
	case ids.committed>>xact&1 > 0:
		return committed
	}
	return aborted
}
