package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Untrusted is the error of a name that the table needs and somebody else has taken. Who is trusted
// with the table is for the door to say.
type Untrusted struct {
	Role    string // quoted, as all names
	Objects []Owned
}

// Owned is an object that belongs to somebody.
type Owned struct {
	Kind, Name string // as DROP has them
	Owner      string
}

func (u *Untrusted) Error() string {
	lines := make([]string, len(u.Objects))
	for i, o := range u.Objects {
		lines[i] = fmt.Sprintf("%s %s belongs to role %s and has a name that the table needs: drop or rename it", strings.ToLower(o.Kind), o.Name, o.Owner)
	}
	return strings.Join(lines, "; ")
}

// IsUntrusted tells an *Untrusted error.
func IsUntrusted(err error) bool {
	var u *Untrusted
	return errors.As(err, &u)
}

// trustedWith are the roles whose objects beside the table we use, and may replace: superusers, the
// connection's user, the table's owner, and those of these names.
func trustedWith(ctx context.Context, conn *pgx.Conn, t Table, besides ...string) ([]int64, error) {
	return collect(ctx, conn, "trusted", pgx.RowTo[int64], t.Schema, t.Name, besides)
}
