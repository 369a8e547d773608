package wake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/bound"
	"pgtaskd/human"
	"pgtaskd/sql"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

// The write-ahead log tells of new tasks, at no cost to the sessions that insert them. A temporary
// slot decodes our publication; the server drops the slot with its connection. A commit can be in
// the log before any statement sees it, so the leader looks again for transactions that it could
// not see.
const (
	streamTick  = time.Second      // between two reports of our position, while tasks come
	streamIdle  = time.Minute      // and while none come: each is a transaction to the server
	streamRetry = 30 * time.Second // longest time between two tries to start a stream
)

// stream follows the inserts into a table, on its own connection. Without it the leader polls.
type stream struct {
	Config
	published int64 // Published of the table's description

	mu      sync.Mutex // guards the fields below
	live    bool
	fresh   bool    // the stream has just become live: it did not show earlier inserts
	decoded []int64 // transactions with inserts: the lower halves of their ids
}

// lives tells whether the stream shows all inserts now.
func (s *stream) lives() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

func (s *stream) set(live bool) {
	s.mu.Lock()
	s.live, s.fresh = live, live
	s.mu.Unlock()
	s.Poke()
}

// news takes the transactions that were decoded since the last call. look: there may be new tasks.
func (s *stream) news() (decoded []int64, look bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	decoded, look = s.decoded, s.fresh || len(s.decoded) > 0
	s.decoded, s.fresh = nil, false
	return decoded, look
}

// run follows the stream until ctx ends. If the stream is lost, it logs why and starts another.
func (s *stream) run(ctx context.Context) error {
	var told target.Memory
	for wait := time.Second; ; wait = min(2*wait, streamRetry) {
		began := time.Now()
		err := s.follow(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if s.set(false); time.Since(began) >= streamRetry {
			wait = time.Second
		}
		if told.Once(err.Error(), target.SayAgain) {
			s.Log.Warn().Err(err).Str("sleep", human.Duration(s.Target.Sleep)).Msg("no stream of the write-ahead log; polling")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// follow starts a stream, and reads it until it ends.
func (s *stream) follow(ctx context.Context) error {
	conn, err := control.Stream(ctx, s.Target)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	// The server waits for the end of all transactions that are open now before it makes the slot.
	publication := sql.Publication(s.Target.Relation())
	slot := fmt.Sprintf("%s_%d", publication, conn.PID())
	options := pglogrepl.CreateReplicationSlotOptions{Temporary: true, SnapshotAction: "NOEXPORT_SNAPSHOT", Mode: pglogrepl.LogicalReplication}
	if _, err := pglogrepl.CreateReplicationSlot(ctx, conn, slot, "pgoutput", options); err != nil {
		return err
	}
	if err := s.shown(ctx, conn, publication); err != nil {
		return err
	}
	if err := pglogrepl.StartReplication(ctx, conn, slot, 0, pglogrepl.StartReplicationOptions{
		PluginArgs: []string{"proto_version '1'", "publication_names '" + publication + "'"},
	}); err != nil {
		return err
	}
	s.set(true)
	s.Log.Debug().Msg("following the write-ahead log")
	return s.read(ctx, conn)
}

// shown returns an error if the publication does not publish inserts into the table. The server
// itself reports that only when it decodes an insert, or never.
func (s *stream) shown(ctx context.Context, conn *pgconn.PgConn, publication string) error {
	ctx, cancel := control.Limited(ctx) // the connection has no limit of its own
	defer cancel()
	const query = "SELECT FROM pg_publication AS p JOIN pg_publication_rel AS r " +
		"ON r.prpubid = p.oid " +
		"WHERE p.pubinsert AND p.pubname = '%s' AND r.oid = %d"
	// A replication connection takes no parameters.
	results, err := conn.Exec(ctx, fmt.Sprintf(query, publication, s.published)).ReadAll()
	if err == nil && (len(results) != 1 || len(results[0].Rows) == 0) {
		err = fmt.Errorf("publication %s no longer publishes inserts into the table", publication)
	}
	return err
}

var errSilent = errors.New("the server is silent")

// read reads the stream, and reports the position to the server from time to time.
func (s *stream) read(ctx context.Context, conn *pgconn.PgConn) error {
	var d decoder
	var done pglogrepl.LSN
	said, heard, tick := time.Now(), time.Now(), streamTick
	for {
		waiting, cancel := context.WithDeadline(ctx, said.Add(tick))
		data, err := bound.CopyData(waiting, conn)
		cancel()
		late := pgconn.Timeout(err) && ctx.Err() == nil
		switch {
		case late && time.Since(heard) > control.StreamLimit:
			return errSilent
		case err != nil && !late:
			return err
		case err == nil:
			heard = time.Now()
			until, asked, err := d.decode(data)
			if err != nil {
				return err
			}
			done = max(done, until)
			if asked {
				said = time.Time{}
			}
		}
		if len(d.committed) > 0 {
			s.tell(d.committed)
			d.committed, tick = d.committed[:0], streamTick
		}
		if time.Since(said) >= tick {
			said, tick = time.Now(), streamIdle
			update := pglogrepl.StandbyStatusUpdate{WALWritePosition: done, ReplyRequested: time.Since(heard) > streamIdle/2}
			if err := pglogrepl.SendStandbyStatusUpdate(ctx, conn, update); err != nil {
				return err
			}
		}
	}
}

func (s *stream) tell(committed []int64) {
	s.mu.Lock()
	s.decoded = append(s.decoded, committed...)
	// Drop the oldest: statements probably see them already.
	s.decoded = slices.Delete(s.decoded, 0, max(0, len(s.decoded)-unseenMost))
	s.mu.Unlock()
	s.Poke()
}

// decoder finds the transactions with inserts in a stream of pgoutput. It decodes no rows.
type decoder struct {
	xid       uint32
	inserts   bool    // the current transaction has inserted
	committed []int64 // committed transactions with inserts
}

// decode takes one message. until is the position in the log after it. asked: the server wants a
// report of the position at once.
func (d *decoder) decode(data []byte) (until pglogrepl.LSN, asked bool, err error) {
	if len(data) == 0 {
		return 0, false, nil
	}
	switch data[0] {
	case pglogrepl.PrimaryKeepaliveMessageByteID:
		alive, err := pglogrepl.ParsePrimaryKeepaliveMessage(data[1:])
		return alive.ServerWALEnd, alive.ReplyRequested, err
	case pglogrepl.XLogDataByteID:
		log, err := pglogrepl.ParseXLogData(data[1:])
		if err != nil || len(log.WALData) == 0 {
			return 0, false, err
		}
		return log.WALStart, false, d.message(log.WALData)
	}
	return 0, false, nil
}

func (d *decoder) message(data []byte) error {
	switch pglogrepl.MessageType(data[0]) {
	case pglogrepl.MessageTypeBegin:
		var begin pglogrepl.BeginMessage
		if err := begin.Decode(data[1:]); err != nil {
			return err
		}
		d.xid, d.inserts = begin.Xid, false
	case pglogrepl.MessageTypeInsert:
		d.inserts = true
	case pglogrepl.MessageTypeCommit:
		if d.inserts {
			d.committed = append(d.committed, int64(d.xid))
		}
	}
	return nil
}

const (
	unseenMost   = 10_000                 // most transactions that are remembered
	unseenTick   = time.Millisecond       // shortest time between two looks for them
	unseenSlower = 8                      // that time grows: one part in unseenSlower of the time since the first,
	unseenRarest = 100 * time.Millisecond // at most
)

// unseen has the transactions of the log that no statement has seen yet.
type unseen struct {
	ids   []int64
	since time.Time // when the first of them came
	next  time.Time // when to look
}

func (u *unseen) add(ids []int64) {
	if len(u.ids) == 0 {
		u.since = time.Now()
	}
	u.ids = append(u.ids, ids...)
	u.ids = slices.Delete(u.ids, 0, max(0, len(u.ids)-unseenMost)) // in a drain the leader does not look for them
}

// due tells whether to look for the transactions now.
func (u *unseen) due() bool { return len(u.ids) > 0 && !time.Now().Before(u.next) }

// ask asks in the batch which transactions the statements that follow in it cannot see yet.
func (u *unseen) ask(batch *pgx.Batch, c *control.Control) {
	if len(u.ids) == 0 {
		return
	}
	c.Queue(batch, "unseen", u.ids).Query(func(rows pgx.Rows) (err error) {
		u.ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		u.next = time.Now().Add(min(max(time.Since(u.since)/unseenSlower, unseenTick), unseenRarest))
		return err
	})
}
