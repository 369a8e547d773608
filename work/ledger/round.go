package ledger

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/work/pool"
)

// patience is how long a round waits for a lock: a run that waits for the round may hold it.
const patience = "50ms"

// round writes one round, in one exchange of messages and one transaction, and returns its entries.
// An error concerns the connection or the table as a whole.
func (l *line) round(ctx context.Context, conn *writer) (entries []*waiting, err error) {
	l.writes.Lock()
	defer l.writes.Unlock()
	l.mu.Lock()
	entries = l.queue.Next(time.Now())
	l.mu.Unlock()
	if len(entries) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	rows, err := l.write(ctx, conn, entries)
	l.mu.Lock()
	var look []*waiting
	waited := err != nil // an error leaves only entries to look at that waited for a lock in vain
	switch fault.Of(err) {
	case fault.None:
		look = l.queue.Written(entries, rows)
	case fault.Lost:
		lost(entries)
	default:
		look, err = l.queue.Failed(entries, err, time.Now()), nil
	}
	l.mu.Unlock()
	for i, e := range look {
		why, err := l.look(ctx, conn.Conn, e, waited)
		if err != nil {
			lost(look[i:])
			return entries, err
		}
		l.mu.Lock()
		l.queue.Looked(e, why, time.Now())
		l.mu.Unlock()
	}
	return entries, err
}

// lost answers entries whose round got no answer: the connection was lost.
func lost(entries []*waiting) {
	for _, e := range entries {
		answer := Answer{Result: Passed}
		if e.Kind.urgent() {
			answer.Result = Lost
		}
		e.Tell(answer)
	}
}

// writer is a connection that writes rounds.
type writer struct {
	*pgx.Conn
	lazy bool // the session's settings are already those of a lazy round
	// known are sessions that this connection has seen alive. While the connection lasts, the
	// server has not crashed, so no number of their transactions can belong to another transaction.
	known map[pool.Backend]bool
}

// see records that the session of an entry is alive.
func (w *writer) see(e *waiting) {
	if w.known == nil || len(w.known) >= knownMost {
		w.known = map[pool.Backend]bool{}
	}
	w.known[pool.Backend{PID: e.PID, Since: e.Since}] = true
}

const knownMost = 4096

// unseen is the start of the entry's session if the statement must check it; otherwise nil.
func (w *writer) unseen(e *waiting) *time.Time {
	if !e.Kind.urgent() || e.Place != "" || w.known[pool.Backend{PID: e.PID, Since: e.Since}] {
		return nil
	}
	return &e.Since
}

// write sends the round: one row alone by the cheaper statement, if possible.
func (l *line) write(ctx context.Context, conn *writer, entries []*waiting) (rows map[int64]Row, err error) {
	if e := entries[0]; len(entries) == 1 && e.tries == 0 && conn.unseen(e) == nil {
		rows, err = l.send(ctx, conn, paceOf(entries), "ledger_row",
			e.ID, string(e.Kind), int32(e.Version), e.PID, e.Start, orNull(e.Stop), e.Output, e.Notice, e.Exactly, orNull(e.Xact), l.placeOf(e))
		if err != nil || len(rows) > 0 { // the row may still show the lock of a transaction that is gone
			return rows, err
		}
	}
	rows, err = l.send(ctx, conn, paceOf(entries), "ledger",
		column(entries, func(e *waiting) int64 { return e.ID }),
		column(entries, func(e *waiting) string { return string(e.Kind) }),
		column(entries, func(e *waiting) int32 { return int32(e.Version) }),
		column(entries, func(e *waiting) int32 { return e.PID }),
		column(entries, func(e *waiting) time.Time { return e.Start }),
		column(entries, func(e *waiting) *time.Time { return orNull(e.Stop) }),
		column(entries, func(e *waiting) *string { return e.Output }),
		column(entries, func(e *waiting) *string { return e.Notice }),
		column(entries, func(e *waiting) bool { return e.Exactly }),
		column(entries, func(e *waiting) *int64 { return orNull(e.Xact) }),
		column(entries, l.placeOf),
		column(entries, conn.unseen))
	for _, e := range entries {
		if _, met := rows[e.ID]; met && err == nil && e.Kind.urgent() {
			conn.see(e)
		}
	}
	return rows, err
}

// send runs the statement that writes the entries. The commit of a preparation does not wait for
// the disk: it comes before the commit of the run in the server's log.
func (l *line) send(ctx context.Context, conn *writer, pace, name string, values ...any) (rows map[int64]Row, err error) {
	queries, batch := l.Control.Queries(), &pgx.Batch{}
	if !conn.lazy || pace != lazy {
		batch.Queue(queries.Text("ledger_limits"), patience, pace)
	}
	rows = map[int64]Row{}
	batch.Queue(queries.Text(name), values...).Query(func(found pgx.Rows) error {
		var id int64
		var taken, empty bool
		_, err := pgx.ForEachRow(found, []any{&id, &taken, &empty}, func() error {
			rows[id] = Row{Stays: !taken, Empty: empty}
			return nil
		})
		return err
	})
	return rows, conn.SendBatch(ctx, batch).Close() // includes the answer to COMMIT
}

// placeOf returns where the entry's transaction is, as in xact_at; nil: unknown.
func (l *Ledger) placeOf(e *waiting) *string {
	if e.Place != "" {
		return &e.Place
	}
	return l.Place()
}

// isElsewhere tells whether the entry's session is on another server: its process id means nothing
// on ours.
func (l *Ledger) isElsewhere(e *waiting) bool {
	here, away := l.Place(), e.Place
	if away == "" || here == nil {
		return away != ""
	}
	server, _, _ := strings.Cut(*here, "/")
	return !strings.HasPrefix(away, server+"/")
}

// look finds out why a row was passed over. waited: its round has waited for a lock in vain.
func (l *line) look(ctx context.Context, conn *pgx.Conn, e *waiting, waited bool) (why Reason, err error) {
	queries, row := l.Control.Queries(), sight{ours: true, there: true, elsewhere: l.isElsewhere(e)}
	if err := conn.QueryRow(ctx, queries.Text("holders"), e.PID).Scan(&row.own, &row.others); err != nil {
		return why, err
	}
	if row.own || row.others {
		return row.reason(e.Kind, waited), nil
	}
	batch := &pgx.Batch{}
	batch.Queue(queries.Text("ledger_limits"), patience, lazy)
	batch.Queue(queries.Text("blocked"), e.ID, int32(e.Version), e.PID, e.Since).QueryRow(func(r pgx.Row) error {
		return r.Scan(&row.ours, &row.own, &row.others, &row.holds, &row.free, &row.there)
	})
	switch err = conn.SendBatch(ctx, batch).Close(); fault.Of(err) {
	case fault.None:
		row.there = row.there || e.Place != "" // it is not known when a session on a remote began
		return row.reason(e.Kind, waited), nil
	case fault.Lost:
		return why, err
	}
	return LockedByOther, nil // the statement was refused: the entry is tried again
}

// sight is what holders.sql and blocked.sql return about a row.
type sight struct{ ours, own, others, holds, free, there, elsewhere bool }

// reason says why the row was passed over. If the round has waited for a lock that nobody else
// seems to hold, the run probably holds it: on another row that a trigger of the table changes, or
// on an equal value in an index. Before its SQL (Claim), a run holds no lock.
func (s sight) reason(k Kind, waited bool) Reason {
	if s.elsewhere {
		s.others, s.own, s.holds = s.others || s.own || waited, false, false
	}
	switch {
	case !s.there:
		return SessionGone
	case !s.ours:
		return RowChanged
	case k == Prepare && s.own:
		return LockedByRun
	case s.free && !waited:
		return Unlocked
	case k == Prepare && !s.others && (s.holds || waited):
		return MaybeByRun
	}
	return LockedByOther
}

// The commit of a round waits for one of these.
const (
	lazy  = "lazy"  // nothing
	usual = "usual" // what the role's transactions wait for
	flush = "flush" // at least the server's disk
)

func paceOf(entries []*waiting) string {
	pace := lazy
	for _, e := range entries {
		switch {
		case e.Flush:
			return flush
		case e.Kind == Done:
			pace = usual
		}
	}
	return pace
}

// column collects one parameter of the statement from all entries.
func column[T any](entries []*waiting, of func(*waiting) T) (all []T) {
	for _, e := range entries {
		all = append(all, of(e))
	}
	return all
}
