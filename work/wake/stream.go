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

// The write-ahead log tells of new tasks without any cost to those who insert them: a temporary
// slot, which the server drops with its connection, decodes what our publication shows. A commit
// can stand in the log before any statement sees it: what is not seen yet is looked for again.
const (
	streamTick  = time.Second      // between two reports of how far we have read
	streamLimit = 40 * time.Second // of silence: the server speaks at half its wal_sender_timeout
	streamRetry = 30 * time.Second // at most, between two tries to have a stream
)

// stream follows the inserts into a table, on a connection of its own. While there is none, the
// leader polls.
type stream struct {
	Config
	published int64 // of the table's description

	mu      sync.Mutex // guards what follows
	live    bool
	fresh   bool    // it has become live: what was before is not told
	decoded []int64 // transactions with inserts, the lower halves of their numbers
}

// lives tells whether all is told now.
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

// news takes what has been decoded since the last call. look tells that there may be new tasks.
func (s *stream) news() (decoded []int64, look bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	decoded, look = s.decoded, s.fresh || len(s.decoded) > 0
	s.decoded, s.fresh = nil, false
	return decoded, look
}

// run follows the stream until ctx ends. When it is lost it makes another one, and says why.
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

// follow makes a stream and reads it until it ends.
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
	// The server makes the slot when all transactions have ended that are open now.
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

// shown is an error unless the inserts have been shown since before the slot was made: the server
// does not say so before it decodes one, or not at all.
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

// read takes what the server sends, and tells it from time to time how far it has come.
func (s *stream) read(ctx context.Context, conn *pgconn.PgConn) error {
	var d decoder
	var done pglogrepl.LSN
	said, heard := time.Now(), time.Now()
	for {
		waiting, cancel := context.WithDeadline(ctx, said.Add(streamTick))
		data, err := bound.CopyData(waiting, conn)
		cancel()
		late := pgconn.Timeout(err) && ctx.Err() == nil
		switch {
		case late && time.Since(heard) > streamLimit:
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
			d.committed = d.committed[:0]
		}
		if time.Since(said) >= streamTick {
			said = time.Now()
			update := pglogrepl.StandbyStatusUpdate{WALWritePosition: done, ReplyRequested: time.Since(heard) > streamLimit/4}
			if err := pglogrepl.SendStandbyStatusUpdate(ctx, conn, update); err != nil {
				return err
			}
		}
	}
}

func (s *stream) tell(committed []int64) {
	s.mu.Lock()
	s.decoded = append(s.decoded, committed...)
	// The oldest are the likeliest to be seen.
	s.decoded = slices.Delete(s.decoded, 0, max(0, len(s.decoded)-unseenMost))
	s.mu.Unlock()
	s.Poke()
}

// decoder picks the transactions that have inserted from a stream of pgoutput. It looks at no row.
type decoder struct {
	xid       uint32
	inserts   bool // the transaction that comes in does
	committed []int64
}

// decode takes one message. until is how far the log has been read with it; asked tells that the
// server wants to hear that at once.
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
	unseenMost   = 10_000           // transactions that are known and not looked for yet
	unseenTick   = time.Millisecond // between two looks for what cannot be seen yet
	unseenSlower = 8                // the part of the time it has taken that it waits
	unseenRarest = 100 * time.Millisecond
)

// unseen are transactions that the log has told of, until a statement has seen them.
type unseen struct {
	ids   []int64
	since time.Time // the oldest
	next  time.Time // look
}

func (u *unseen) add(ids []int64) {
	if len(u.ids) == 0 {
		u.since = time.Now()
	}
	u.ids = append(u.ids, ids...)
	u.ids = slices.Delete(u.ids, 0, max(0, len(u.ids)-unseenMost)) // in a drain nobody looks for them
}

// due tells whether to look for them now.
func (u *unseen) due() bool { return len(u.ids) > 0 && !time.Now().Before(u.next) }

// ask adds to a batch the question which of them cannot be seen yet by what follows in it.
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
