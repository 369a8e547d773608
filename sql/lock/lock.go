package lock

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// Sleeping plus a table's oid is the number of the advisory lock that tells that the leader of this
// table sleeps. The upper half spells pgta.
const Sleeping int64 = 0x70677461 << 32

// Limits plus the oid of the table of groups is the number of the advisory lock that sessions share
// while they change limits of groups. The upper half spells pgtg.
const Limits int64 = 0x70677467 << 32

var statements = sql.NewQueries("lock", nil)

// Lock is an advisory lock of the server. Its session holds it until the session ends. Anybody who
// can connect can hold it: Holder names the session that does.
type Lock struct {
	class, number uint32
	shared        bool // others may share it
}

// Holder is a session, or a prepared transaction, that holds a lock.
type Holder struct {
	PID  int32 // 0: a prepared transaction
	Role string
	Text string // describes the holder, with the statement that ends it
}

// Leadership is the lock of the leader of the table, whatever its role. Leaders of partitions of
// the table share it.
func Leadership(t sql.Table, shared bool) Lock { return newLock("leadership", t.String(), shared) }

// Schema is the lock for creating objects in a schema: those that tables share, or (shared) one
// table's, who also needs the lock of that Table.
func Schema(schema string, shared bool) Lock { return newLock("schema", schema, shared) }

// Table is the lock for creating a table and what stands beside it.
func Table(t sql.Table) Lock { return newLock("table", t.String(), false) }

// newLock computes the numbers of the lock from a name, so each table has its own.
func newLock(what, name string, shared bool) Lock {
	sum := sha256.Sum256(fmt.Appendf(nil, "pgtaskd %s %q", what, name))
	return Lock{binary.BigEndian.Uint32(sum[:4]), uint32(sum[4]) << 24, shared}
}

// Numbers returns the two numbers of the lock in pg_locks.
func (k Lock) Numbers() (class, number uint32) { return k.class, k.number }

// numbers returns them as the server's functions take them.
func (k Lock) numbers() (int32, int32) { return int32(k.class), int32(k.number) } //nolint:gosec // the same bits

// Take tells whether we have the lock now. It does not wait, since a waiting session holds back
// vacuum.
func (k Lock) Take(ctx context.Context, conn *pgx.Conn) (has bool, err error) {
	err = k.call(ctx, conn, "pg_try_advisory_lock", &has)
	return has, err
}

// Balance counts the tables that a controller leads, and those of the one that leads the fewest
// among those that stand by; nil: nobody does.
func (k Lock) Balance(ctx context.Context, conn *pgx.Conn, controller uint32) (ours int64, fewest *int64, err error) {
	class, number := k.numbers()
	err = conn.QueryRow(ctx, statements.Text("balance"), class, number, controller).Scan(&ours, &fewest)
	return ours, fewest, err
}

// TakeOrHolder is Take and Holder in one transaction of the server. The session also shows whose it
// is, by a lock of its own: controller has 24 bits, and is not 0.
func (k Lock) TakeOrHolder(ctx context.Context, conn *pgx.Conn, controller uint32) (has bool, h *Holder, err error) {
	class, number := k.numbers()
	shownClass, shownNumber := Lock{k.class ^ 1, k.number | controller, false}.numbers()
	batch := &pgx.Batch{}
	batch.Queue("SELECT pg_catalog.pg_try_advisory_lock($1, $2)", shownClass, shownNumber)
	batch.Queue("SELECT "+k.function("pg_try_advisory_lock")+"($1, $2)", class, number).QueryRow(func(row pgx.Row) error {
		return row.Scan(&has)
	})
	batch.Queue(statements.Text("holder"), class, number).Query(func(rows pgx.Rows) error {
		h, err = holder(rows)
		return err
	})
	err = conn.SendBatch(ctx, batch).Close()
	return has, h, err
}

// Await waits for the lock, and holds it until the transaction ends.
func (k Lock) Await(ctx context.Context, conn *pgx.Conn) error {
	return k.call(ctx, conn, "pg_advisory_xact_lock", nil)
}

func (k Lock) call(ctx context.Context, conn *pgx.Conn, function string, result any) error {
	class, number := k.numbers()
	return conn.QueryRow(ctx, "SELECT "+k.function(function)+"($1, $2)", class, number).Scan(result)
}

func (k Lock) function(name string) string {
	if k.shared {
		name += "_shared"
	}
	return "pg_catalog." + name
}

// valid makes valid UTF-8 of a name that others have chosen, maybe in another encoding.
func valid(name []byte) string { return strings.ToValidUTF8(string(name), "?") }

// Holder returns another session that holds the lock, or nil.
func (k Lock) Holder(ctx context.Context, conn *pgx.Conn) (*Holder, error) {
	class, number := k.numbers()
	rows, err := conn.Query(ctx, statements.Text("holder"), class, number)
	if err != nil {
		return nil, err
	}
	return holder(rows)
}

func holder(rows pgx.Rows) (*Holder, error) {
	h, err := pgx.CollectOneRow(rows, func(row pgx.CollectableRow) (*Holder, error) {
		var h Holder
		var role, text []byte
		err := row.Scan(&h.PID, &role, &text)
		h.Role, h.Text = valid(role), valid(text)
		return &h, err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return h, err
}

// Holders describes the open and prepared transactions that hold locks on the table, and how to end
// each of them. With written it returns those that have written to the table, or to a table that it
// refers to, and then those that may have locked rows. A change of the table that waits mostly
// waits for one of these.
func Holders(ctx context.Context, conn *pgx.Conn, t sql.Table, written bool) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	rows, err := conn.Query(ctx, statements.Text("holders"), t.Schema, t.Name, written)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var text []byte
		err := row.Scan(&text)
		return valid(text), err
	})
}
