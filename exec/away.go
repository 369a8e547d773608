package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// The effects of a run on another server happen exactly once if that server can be asked later how
// the run's transaction has ended. The functions of this file find out whether it can, make sure
// that it will remember, and ask. They are called before the first task of a session, or on a
// session that runs none. They use function calls and no operators, because anybody may have set
// the search path.

// Place says where the transactions of a session are. The zero value: that cannot be known, or they
// cannot be asked about.
type Place struct {
	At      string    // as in xact_at: system identifier of the server, oid of the database, timeline
	Started time.Time // start of the server
}

// location reads the place of a session. A standby has none. The timeline in the name of a file of
// the log is right at once after a promotion; pg_control_checkpoint() shows it minutes later.
const location = `SELECT pg_catalog.pg_backend_pid(), CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL ELSE
	pg_catalog.concat((SELECT s.system_identifier FROM pg_catalog.pg_control_system() AS s), '/', (
		SELECT d.oid FROM pg_catalog.pg_database AS d WHERE pg_catalog.nameeq(d.datname, pg_catalog.current_database())
	), '/', pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8)) END,
	pg_catalog.pg_postmaster_start_time()`

// Needed are the functions that a role needs on a remote so that its runs there can be exactly once.
var Needed = []string{
	"pg_control_system()", "pg_is_in_recovery()", "pg_walfile_name(pg_lsn)", "pg_current_wal_lsn()", "pg_postmaster_start_time()",
	"pg_logical_emit_message(bool, text, text)", "txid_status(int8)", "txid_current_if_assigned()",
	"pg_stat_get_activity(int)",
}

// ErrUnable is the error of a server that cannot be asked about transactions, and will say so again.
var ErrUnable = errors.New("the server cannot be asked about transactions")

// ErrPooled is ErrUnable because a pooler is on the way: it may send two statements to two sessions.
var ErrPooled = fmt.Errorf("%w: a pooler is on the way to it", ErrUnable)

// unable makes the error of a question an ErrUnable, if asking again would not help: the server
// refuses a function, or answers something else.
func unable(err error) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) && !errors.Is(err, errAnswer) {
		return err
	}
	if refused != nil && slices.Contains([]string{"40", "53", "55", "57"}, refused.Code[:min(2, len(refused.Code))]) {
		return err // somebody has cancelled it; the server has no room now, shuts down or starts
	}
	return fmt.Errorf("%w: %w", ErrUnable, err)
}

// Locate finds the place of the session. The zero Place without an error is that of a standby.
func (s *Session) Locate(ctx context.Context) (Place, error) {
	row, err := s.wire.row(ctx, location, 3)
	if err != nil {
		return Place{}, unable(err)
	}
	switch pid, err := int4Of(row[0]); {
	case err != nil:
		return Place{}, unable(err)
	case uint32(pid) != s.PID:
		return Place{}, ErrPooled
	case row[1] == nil:
		return Place{}, nil
	}
	started, err := moment(row[2])
	return Place{At: string(row[1]), Started: started}, unable(err)
}

// Witness is a session on a remote that runs no task: it makes the remote remember transactions, and
// asks how they have ended. It belongs to one goroutine.
type Witness struct {
	*Session
	Place Place
}

// NewWitness makes a witness of a new session. The error is ErrPooled behind Pgpool-II, too, which
// shows the process id of the backend as if there were no pooler.
func NewWitness(ctx context.Context, s *Session) (*Witness, error) {
	place, err := s.Locate(ctx)
	if err != nil {
		return nil, err
	}
	switch _, err = s.wire.row(ctx, "SHOW pool_version", 1); {
	case err == nil:
		return nil, ErrPooled
	case errors.As(err, new(*pgconn.PgError)):
		return &Witness{s, place}, nil
	}
	return nil, err
}

// raised raises synchronous_commit for the transaction, so that its COMMIT waits at least for the
// disk of the server, and for a synchronous standby if there is one.
const raised = `pg_catalog.set_config('synchronous_commit', CASE
	WHEN pg_catalog.texteq(pg_catalog.current_setting('synchronous_commit'), 'remote_apply') THEN 'remote_apply' ELSE 'on' END, true)`

// errUnreplicated means that somebody has cancelled the wait for a synchronous standby.
var errUnreplicated = errors.New("the wait for the synchronous standby was cancelled")

// Fence commits a transaction to the disk of the server. All transactions that had an id before the
// call have lower ids. So after a crash the server cannot give one of these ids to another
// transaction. limit is the time for that.
func (s *Witness) Fence(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s.wire.unreplicated = false
	_, err := s.wire.row(ctx, `SELECT `+raised+`, pg_catalog.pg_logical_emit_message(true, 'pgtaskd', '')`, 2)
	if err == nil && s.wire.unreplicated {
		err = errUnreplicated
	}
	return unable(err)
}

// Holds tells whether a session of the same role has this transaction open.
func (s *Witness) Holds(ctx context.Context, pid uint32, xact int64) (bool, error) {
	row, err := s.wire.row(ctx, fmt.Sprintf("SELECT pg_catalog.count(*)::pg_catalog.int4 FROM pg_catalog.pg_stat_get_activity(%d) AS a "+
		"WHERE pg_catalog.xideq(a.backend_xid, '%d')", pid, uint32(xact)), 1)
	if err != nil {
		return false, err
	}
	n, err := int4Of(row[0])
	return n > 0, err
}

// Status is how a transaction has ended, as its server remembers it.
type Status string

// The statuses of a transaction. Future: its id was not given out, or was lost in a crash.
const (
	Forgotten  Status = ""
	Committed  Status = "committed"
	Aborted    Status = "aborted"
	InProgress Status = "in progress"
	Future     Status = "in the future"
)

// Ask asks the server for the status of a transaction.
func (s *Witness) Ask(ctx context.Context, xact int64) (Status, error) {
	row, err := s.wire.row(ctx, fmt.Sprintf("SELECT pg_catalog.txid_status(%d)", xact), 1)
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && refused.Code == "22023" && refused.Routine == "TransactionIdInRecentPast":
		return Future, nil
	case err != nil:
		return Forgotten, err
	}
	switch status := Status(row[0]); status {
	case Forgotten, Committed, Aborted, InProgress:
		return status, nil
	}
	return Forgotten, errAnswer
}
