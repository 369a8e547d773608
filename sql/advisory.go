package sql

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Lock is one thing that only one session may have. Anybody who can connect may hold any advisory
// lock of the server, for ever. So each Lock has many, spares of them, and is had by who holds one
// of them while no rival holds another: no other session, that is, whose role could serve the
// table. Who holds one and could not is a Stranger, and changes nothing; nor does a prepared
// transaction.
//
// No two can have it at once, whatever number each holds: each first holds one, then looks who else
// does, and has it only if there is no rival. Of two, one looks later than both have taken theirs;
// pg_locks shows all that is held at one moment, so it sees the other, and lets its own go. Rivals
// must believe each other for that: whoever has come by the rights of a rival since it looked has
// to look again.
//
// It is for one goroutine, and for one connection.
type Lock struct {
	Rival     *Holder  // who is believed to have it, by the last look; nil: nobody but us
	Strangers []Holder // who else held one of the locks then

	what        string
	table       Table
	class       uint32
	first, last uint32 // of the second number
	numbers     int16  // 2, or 1 for one of 64 bits
	rights      []string
	shared      bool   // others may share it
	number      uint32 // the one that is held, or tried next
	held        bool
}

// Holder is a session that holds a lock, or what is left of one that has prepared a transaction.
type Holder struct {
	PID      int32 // 0: a prepared transaction
	Number   int64
	Shared   bool
	Role     string
	Client   string // from where it has connected; "": this machine, by a socket, or unknown
	Prepared string // its name
	Believed bool
}

func (h Holder) String() string {
	if h.PID == 0 {
		return fmt.Sprintf("prepared transaction %q of role %q", h.Prepared, h.Role)
	}
	return fmt.Sprintf("pid %d of role %q", h.PID, h.Role)
}

// spares is how many locks stand for one thing: more than a server has room for.
const spares = 1 << 24

// serving are the rights that it takes to serve a table.
var serving = []string{"SELECT", "INSERT", "UPDATE", "DELETE"}

// Leadership is the lock of who serves the table, whatever its role; who serves a partition of the
// table shares it.
func Leadership(t Table, shared bool) *Lock { return newLock("leadership", t, t.Quoted(), shared) }

// Schema is the lock of who creates anything in the table's schema.
func Schema(t Table) *Lock { return newLock("schema", t, t.Schema, false) }

// Sleep is the lock that the leader of the table holds alone while it sleeps. It can only be looked
// at.
func Sleep(t Table, w Waking) *Lock {
	oid := uint32(w.Lock) //nolint:gosec // the lower half
	return &Lock{what: "sleep", table: t, class: uint32(w.Lock >> 32), first: oid, last: oid, numbers: 1, rights: []string{"INSERT"}}
}

// newLock has the first number and 8 bits of the second from a name, so that another table's is
// another one.
func newLock(what string, t Table, name string, shared bool) *Lock {
	sum := sha256.Sum256(fmt.Appendf(nil, "pgtaskd %s %q", what, name))
	first := uint32(sum[4]) * spares
	return &Lock{
		what: what, table: t, class: binary.BigEndian.Uint32(sum[:4]), first: first, last: first + spares - 1, numbers: 2,
		rights: serving, shared: shared, number: first,
	}
}

// What names the lock in messages.
func (k *Lock) What() string { return k.what }

// Held tells whether one of the locks is held by us; that we have what it stands for only Take
// tells.
func (k *Lock) Held() bool { return k.held }

// Take tells whether we have the lock now. Where there is a rival nothing is held.
func (k *Lock) Take(ctx context.Context, conn *pgx.Conn) (bool, error) {
	for range 2 {
		if err := k.Try(ctx, conn); err != nil {
			return false, err
		}
		if err := k.Look(ctx, conn); err != nil {
			return false, err
		}
		switch {
		case k.Rival != nil:
			err := k.Release(ctx, conn)
			k.number = uint32(k.Rival.Number) //nolint:gosec // that falls when it goes
			return false, err
		case k.held:
			return true, nil
		}
		k.number = k.first + rand.Uint32N(spares)
	}
	return false, nil
}

// Try holds one of the locks, if nobody else does.
func (k *Lock) Try(ctx context.Context, conn *pgx.Conn) error {
	if k.held {
		return nil
	}
	return k.call(ctx, conn, "pg_try_advisory_lock", &k.held)
}

// Release lets go what is held.
func (k *Lock) Release(ctx context.Context, conn *pgx.Conn) error {
	if !k.held {
		return nil
	}
	k.held = false
	return k.call(ctx, conn, "pg_advisory_unlock", nil)
}

func (k *Lock) call(ctx context.Context, conn *pgx.Conn, function string, result any) error {
	if k.shared {
		function += "_shared"
	}
	return conn.QueryRow(ctx, "SELECT pg_catalog."+function+"($1, $2)", int32(k.class), int32(k.number)).Scan(result) //nolint:gosec // the same bits
}

// Look finds out who else holds one of the locks.
func (k *Lock) Look(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, text("inspect/rivals"), int64(k.class), int64(k.first), int64(k.last), k.numbers,
		k.table.Schema, k.table.Name, k.rights, len(k.rights) == len(serving))
	if err != nil {
		return err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Holder])
	if err != nil {
		return err
	}
	k.Rival, k.Strangers = nil, nil
	for _, h := range all {
		switch {
		case !h.Believed:
			k.Strangers = append(k.Strangers, h)
		case !k.shared || !h.Shared:
			k.Rival = &h
		}
	}
	slices.SortFunc(k.Strangers, func(a, b Holder) int { return int(a.PID) - int(b.PID) })
	return nil
}
