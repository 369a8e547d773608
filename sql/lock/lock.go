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

// Sleeping is the first of the numbers of advisory locks that stand for tables whose leader
// sleeps: the upper half spells pgta, the lower one is the table's oid.
const Sleeping int64 = 0x70677461 << 32

// Limits is the first of the numbers of advisory locks that those share who change limits of
// groups: the upper half spells pgtg, the lower one is the number of the table of groups.
const Limits int64 = 0x70677467 << 32

var statements = sql.NewQueries("lock", nil)

// Lock is an advisory lock of the server's, which its session holds until that ends. Anybody who
// can connect can hold it: Holder names the one who does.
type Lock struct {
	class, number uint32
	shared        bool // others may share it
}

// Holder is a session that holds a lock, or a prepared transaction that does.
type Holder struct {
	PID  int32 // 0: a prepared transaction
	Role string
	Text string // names it, with the statement that ends it
}

// Leadership is the lock of the leader of the table, whatever its role; the leader of a partition
// of the table shares it.
func Leadership(t sql.Table, shared bool) Lock { return newLock("leadership", t.String(), shared) }

// Schema is the lock of those who create objects in a schema.
func Schema(schema string) Lock { return newLock("schema", schema, false) }

// newLock has its numbers from a name, so that another table's are others.
func newLock(what, name string, shared bool) Lock {
	sum := sha256.Sum256(fmt.Appendf(nil, "pgtaskd %s %q", what, name))
	return Lock{binary.BigEndian.Uint32(sum[:4]), uint32(sum[4]) << 24, shared}
}

// Numbers are its two in pg_locks.
func (k Lock) Numbers() (class, number uint32) { return k.class, k.number }

// numbers are those that the server's functions take.
func (k Lock) numbers() (int32, int32) { return int32(k.class), int32(k.number) } //nolint:gosec // the same bits

// Take tells whether we have the lock now. It waits for nobody: a session that waits holds back
// vacuum.
func (k Lock) Take(ctx context.Context, conn *pgx.Conn) (has bool, err error) {
	err = k.call(ctx, conn, "pg_try_advisory_lock", &has)
	return has, err
}

// Await takes the lock until the transaction ends, as soon as nobody else has it.
func (k Lock) Await(ctx context.Context, conn *pgx.Conn) error {
	return k.call(ctx, conn, "pg_advisory_xact_lock", nil)
}

func (k Lock) call(ctx context.Context, conn *pgx.Conn, function string, result any) error {
	if k.shared {
		function += "_shared"
	}
	class, number := k.numbers()
	return conn.QueryRow(ctx, "SELECT pg_catalog."+function+"($1, $2)", class, number).Scan(result)
}

// valid is a name that others have chosen, maybe in another encoding.
func valid(name []byte) string { return strings.ToValidUTF8(string(name), "?") }

// Holder is another session that holds the lock, nil if none does.
func (k Lock) Holder(ctx context.Context, conn *pgx.Conn) (*Holder, error) {
	class, number := k.numbers()
	rows, err := conn.Query(ctx, statements.Text("holder"), class, number)
	if err != nil {
		return nil, err
	}
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

// Holders tells which open and prepared transactions hold locks on the table, and how each is
// ended; written: those that have written to it, or to a table that it refers to, and then those
// that may have locked rows. The one that a change of the table waits for is mostly among these.
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
