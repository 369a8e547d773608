package door

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// Target is the table to look at, and how it is served.
type Target struct {
	Table    sql.Table
	Trust    []string // names of roles, or PUBLIC
	Inserter bool     // tasks run under the roles that insert them
	Login    string   // role that serves it; "": the connection's user
	Path     string   // search_path with which the role's sessions begin
	Unlocked bool     // do not wait for locks on the table: it is not served
}

// lockLimit limits how long Look waits for locks on the table.
const lockLimit = "2s"

// Look finds who could turn the table against the role of the login's sessions, which ALTER ROLE …
// SET role may change. First it waits for transactions that may be adding a trigger to the table.
func Look(ctx context.Context, conn *pgx.Conn, t Target) (found Findings, err error) {
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		found, err = Within(ctx, tx, t)
		return err
	})
	return found, err
}

// Within is Look inside a transaction that has changed the table.
func Within(ctx context.Context, tx pgx.Tx, t Target) (Findings, error) {
	for waited := t.Unlocked; ; waited = true {
		s, err := read(ctx, tx, t)
		if err != nil {
			return nil, err
		}
		if s.kind != "" && s.kind != "r" && s.kind != "p" {
			return Findings{s.noTable(t)}, nil
		}
		relations, err := collect[relation](ctx, tx, "relations", s.relation, s.schema, sql.BesideNames(t.Table), otherNames,
			[]string{sql.BesideName(t.Table, "session"), sql.BesideName(t.Table, "act")})
		if err != nil {
			return nil, err
		}
		if !waited {
			locks, err := lock(ctx, tx, relations)
			if err != nil {
				return nil, err
			}
			if locks { // look at relations again that have got one of our names meanwhile
				continue
			}
		}
		return s.look(ctx, tx, t, relations)
	}
}

// lock waits for changes that are not committed yet: the statements after it see them. It locks
// each table by itself: before 13 a lock on a parent needs rights on its children.
func lock(ctx context.Context, tx pgx.Tx, relations []relation) (locks bool, err error) {
	var names []string
	for _, r := range relations {
		if r.Lock != "" {
			names = append(names, "ONLY "+r.Lock)
		}
	}
	if len(names) == 0 { // a role that may lock nothing serves nothing yet
		return false, nil
	}
	if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '"+lockLimit+"'"); err != nil {
		return false, err
	}
	_, err = tx.Exec(ctx, "LOCK TABLE "+strings.Join(names, ", ")+" IN ROW EXCLUSIVE MODE")
	return true, err
}

// Made is Within, right after objects were made. First it revokes the rights that default
// privileges have given to others on these.
func Made(ctx context.Context, tx pgx.Tx, t Target) (Findings, error) {
	found, err := Within(ctx, tx, t)
	strips := false
	for _, f := range found {
		if err == nil && slices.Contains([]string{"task", "register", "beside"}, f.Part) {
			strips = true
			_, err = tx.Exec(ctx, f.Mend)
		}
	}
	if err != nil || !strips {
		return found, err
	}
	return Within(ctx, tx, t)
}

var statements = sql.NewQueries("door", nil)

// otherNames is a LIKE pattern for our names that are not made of the table's.
const otherNames = `pgtaskd\_%`

// self is the role that serves, and the relation that has the table's name.
type self struct {
	login     string
	role      string // the role of its sessions
	superuser bool
	schema    int64 // 0: no schema
	relation  int64 // 0: no relation
	kind      string
	owner     string
}

func read(ctx context.Context, tx pgx.Tx, t Target) (*self, error) {
	s := &self{}
	err := tx.QueryRow(ctx, statements.Text("self"), t.Table.Schema, t.Table.Name, t.Login).
		Scan(&s.login, &s.role, &s.superuser, &s.schema, &s.relation, &s.kind, &s.owner)
	return s, err
}

func (s *self) noTable(t Target) Finding {
	kinds := map[string]string{
		"v": "view", "m": "materialized view", "f": "foreign table", "S": "sequence", "i": "index", "I": "index",
	}
	return Finding{
		Grade: Refuse, Who: s.owner, Way: isNoTable, What: cmp.Or(kinds[s.kind], "relation") + " " + t.Table.String(),
		Mend: "serve a table of another name, or rename it",
	}
}

// look runs the statements one after another: each needs results of those before.
func (s *self) look(ctx context.Context, tx pgx.Tx, t Target, relations []relation) (Findings, error) {
	names := sql.BesideNames(t.Table)
	var all, tables []int64
	var parts []string
	for _, r := range relations {
		all, parts = append(all, r.OID), append(parts, r.Part)
		if r.Part == "task" || r.Part == "below" {
			tables = append(tables, r.OID)
		}
	}
	async := sql.BesideName(t.Table, "async")
	believed, err := collect[trusted](ctx, tx, "trusted", s.role, t.Trust, tables, async, s.schema, t.Inserter, s.login)
	if err != nil {
		return nil, err
	}
	oids := make([]int64, len(believed))
	for i, b := range believed {
		oids[i] = b.OID
	}
	owned, err := collect[Finding](ctx, tx, "owned", all, oids, s.schema, names, otherNames, s.role)
	if err != nil {
		return nil, err
	}
	granted, err := collect[Finding](ctx, tx, "granted", all, parts, oids)
	if err != nil {
		return nil, err
	}
	places, err := collect[Finding](ctx, tx, "places", s.role, s.schema, schemas(t.Path, s.role), oids)
	if err != nil {
		return nil, err
	}
	return graded(s.superuser, t.Trust, believed, slices.Concat(owned, granted, places)), nil
}

// relation is a relation whose code may run when pgtaskd uses the table.
type relation struct {
	OID  int64
	Part string // its relation to the table
	Lock string // its name, if it must be locked
}

func collect[T any](ctx context.Context, tx pgx.Tx, name string, args ...any) ([]T, error) {
	rows, err := tx.Query(ctx, statements.Text(name), args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}

var listed = regexp.MustCompile(`"((?:[^"]|"")*)"?|[^\s,"]+`)

// schemas returns the schemas of a search_path, as the server reads it: names between commas, in
// lower case unless quoted. It leaves out the server's own: only their names begin with pg_.
func schemas(path, role string) []string {
	all := []string{}
	for _, match := range listed.FindAllStringSubmatch(path, -1) {
		name := strings.ReplaceAll(match[1], `""`, `"`)
		if !strings.HasPrefix(match[0], `"`) {
			name = strings.ToLower(match[0])
		}
		if name == "$user" {
			name = role
		}
		if name != "" && !strings.HasPrefix(name, "pg_") {
			all = append(all, name)
		}
	}
	return all
}
