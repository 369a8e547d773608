package sql

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// What a table has besides where each task runs under the role that inserted it: a column, a
// trigger that fills and guards it, and what lets the leader write the end of a task in the
// transaction of its SQL.

// tokensName is the name of the table of tokens.
func tokensName(t Table) string { return "pgtaskd_token_" + t.hash() }

// Tokens is the qualified name of the table of tokens, as SQL has it.
func Tokens(t Table) string { return pgx.Identifier{t.Schema, tokensName(t)}.Sanitize() }

// Ending is what the ends of tasks are written by in sessions of lower roles: the numbers of a table
// and a function. 0: there is none.
type Ending struct{ Tokens, Function int64 }

// Ends finds them. The connection's user is the serving role.
func Ends(ctx context.Context, conn *pgx.Conn, t Table) (e Ending, err error) {
	err = conn.QueryRow(ctx, text("inspect/ends_others"), Tokens(t), names{table: t}.fill(endsOthers)).Scan(&e.Tokens, &e.Function)
	return e, err
}

const endsOthers = ":schema.pgtaskd_end_:hash(pg_catalog.bytea, pg_catalog.bytea, :schema.pgtaskd_call_:hash, pg_catalog.text[], pg_catalog.text[])"

// EndsOthers calls the function that writes the end of a task in a session of a lower role: $1 the
// token, $2 the SHA-256 of the next one, $3 a search_path, $4 statements, $5 their parameters. It
// begins as done.sql does, by which the trigger pgtaskd_own knows it. The domain keeps an overload of
// somebody else's from being called, which would learn the token; the statement that comes first is
// an error where another function has the name.
func (e Ending) EndsOthers(t Table) (first, call string) {
	n := names{table: t}
	first = strings.NewReplacer(":signature", literal(n.fill(endsOthers)), ":number", strconv.FormatInt(e.Function, 10)).Replace(uncommented(text("session/ends_others")))
	return first, n.fill("WITH pgtaskd_end AS (SELECT) SELECT :schema.pgtaskd_end_:hash($1::pg_catalog.bytea, $2::pg_catalog.bytea, $3:::schema.pgtaskd_call_:hash, $4::pg_catalog.text[], $5::pg_catalog.text[])")
}

// roles adds the column and its trigger, to a table of a later pgtaskd too. None of it is optional:
// without it tasks would run under a role that they name themselves.
func (m *missing) roles(inserter bool) error {
	if !inserter {
		return nil
	}
	column := m.column("role")
	if column != nil && (!m.fits(*column, "text") || column.Generated) {
		return wrongType(m.table, *column, "text")
	}
	if m.partitioned() && m.version < 130000 {
		return fmt.Errorf(`table %s is partitioned: "as": "inserter" needs PostgreSQL 13 or later for that`, m.table)
	}
	before := len(m.changes)
	for _, s := range roleSteps() {
		switch trigger := m.trigger(s.name); {
		case s.kind == triggerStep && trigger != nil && !trigger.Guards && m.partition: // it comes from the whole
			m.change("trigger "+s.name, "ALTER TABLE "+m.table.Quoted()+" ENABLE ALWAYS TRIGGER "+s.name+";")
		case s.kind == triggerStep && trigger != nil && !trigger.Guards:
			m.add(s, "trigger "+s.name, m.ownership())
		case s.kind != commentStep:
			m.look(s) // whoever has made the table
		case column == nil || column.Believed: // a person's own stays
			m.add(s, "comment on column role", m.ownership())
		}
	}
	if column != nil && column.Default == "" { // dropped, maybe: then the serving role's tasks have none
		m.change("default of column role", setDefault(m.table, "role", "current_user")+";")
	}
	for i := range m.changes[before:] {
		m.changes[before+i].Optional = false
	}
	return nil
}

// roles are the statements that make all of it, for a person to run.
func (n names) roles() (all []string) {
	for _, s := range roleSteps() {
		all = append(all, n.fill(s.sql))
	}
	return append(all, n.entitling()...)
}

// entitling are the statements that make the function by which ends are written, and its tokens.
func (n names) entitling() (all []string) {
	for paragraph := range strings.SplitSeq(text("entitle"), "\n\n") {
		if statements := strings.TrimSpace(sqlComments.ReplaceAllString(paragraph+"\n", "")); statements != "" {
			all = append(all, n.fill(statements))
		}
	}
	return all
}

// Entitled tells whether the function by which the serving role writes the ends of others' tasks is
// there, with its tokens, as this build makes them.
func Entitled(ctx context.Context, conn *pgx.Conn, t Table, serving string) (is bool, err error) {
	var sources []string
	end, err := here(ctx, conn)
	if err != nil {
		return false, err
	}
	err = conn.QueryRow(ctx, text("inspect/entitled"), t.Schema, tokensName(t), serving, end).Scan(&is, &sources)
	made := strings.Join(names{table: t, serving: serving}.entitling(), "\n")
	for _, source := range sources {
		is = is && strings.Contains(made, "$"+source+"$")
	}
	return is, err
}

// Entitle makes them, for the serving role. The connection's user is that role or a superuser.
func Entitle(ctx context.Context, conn *pgx.Conn, t Table, serving string) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := run(ctx, tx, text("session/install")+"SET LOCAL lock_timeout = "+literal(lockTimeout)); err != nil {
			return err
		}
		return run(ctx, tx, strings.Join(names{table: t, serving: serving}.entitling(), "\n"))
	})
}
