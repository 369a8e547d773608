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

// Target is what is looked at.
type Target struct {
	Table    sql.Table
	Trust    []string // names of roles, or PUBLIC
	Inserter bool     // tasks run under the roles that insert them
	Login    string   // who serves it; "": the connection's user
	Path     string   // the search_path with which the login's sessions begin
	Unlocked bool     // who locks the table is not waited for: it is not served
}

// lockLimit is how long Look waits for somebody who has locked the table.
const lockLimit = "2s"

// Look finds who could turn the table against the role that the login is, or that ALTER ROLE … SET
// role makes it. It waits first for transactions that are about to give the table a trigger.
func Look(ctx context.Context, conn *pgx.Conn, t Target) (found Findings, err error) {
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		found, err = Within(ctx, tx, t)
		return err
	})
	return found, err
}

// Within is Look in a transaction that has made something of the table.
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
			sql.BesideName(t.Table, "session"))
		if err != nil {
			return nil, err
		}
		if !waited {
			locks, err := lock(ctx, tx, relations)
			if err != nil {
				return nil, err
			}
			if locks { // what has come to have a name meanwhile counts
				continue
			}
		}
		return s.look(ctx, tx, t, relations)
	}
}

// lock waits for what is not committed yet. What that has made shows in the statements after it.
// Each table is locked by itself: before 13 a parent's lock asks for the rights to its children.
func lock(ctx context.Context, tx pgx.Tx, relations []relation) (locks bool, err error) {
	var names []string
	for _, r := range relations {
		if r.Lock != "" {
			names = append(names, "ONLY "+r.Lock)
		}
	}
	if len(names) == 0 { // a role that may not lock anything serves nothing yet
		return false, nil
	}
	if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '"+lockLimit+"'"); err != nil {
		return false, err
	}
	_, err = tx.Exec(ctx, "LOCK TABLE "+strings.Join(names, ", ")+" IN ROW EXCLUSIVE MODE")
	return true, err
}

// Made is Within, right after something was made. What default privileges have given others of that,
// it takes from them first.
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

// otherNames are ours beside those of the objects beside the table, as LIKE has them.
const otherNames = `pgtaskd\_%`

// self is who serves, and what has the table's name.
type self struct {
	login     string
	role      string // what its sessions become
	superuser bool
	schema    int64 // 0: there is none
	relation  int64 // likewise
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

// look asks all there is to know, one statement after the other: each needs what the ones before it
// have found.
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

// relation is one whose code runs by what pgtaskd does.
type relation struct {
	OID  int64
	Part string // what it is to the table
	Lock string // its name, if it is to be locked
}

func collect[T any](ctx context.Context, tx pgx.Tx, name string, args ...any) ([]T, error) {
	rows, err := tx.Query(ctx, statements.Text(name), args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

var listed = regexp.MustCompile(`"((?:[^"]|"")*)"?|[^\s,"]+`)

// schemas are those that a search_path names, as the server reads it: names between commas, which
// are in small letters unless they are quoted. The server's own are left out, as nobody else's
// names begin with pg_.
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
