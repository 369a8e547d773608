package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"pgtaskd/conf"
	"pgtaskd/human"
	"pgtaskd/remote"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/work"
)

type schemaCommand struct {
	Schema string `placeholder:"SCHEMA" help:"Schema of the table; public by default."`
	Table  string `placeholder:"TABLE" help:"Name of the table; task by default."`
	Wake   string `enum:"auto,notify,wal,poll," default:"" placeholder:"WAY" help:"How new tasks are noticed, like the configuration's wake: auto, notify, wal or poll."`

	Partitioned bool `help:"The table is there, and partitioned."`

	Config string `placeholder:"FILE" predictor:"file" help:"Print what each target of this JSON configuration needs: its table with defaults and wake, and its role's rights."`
	Data   string `placeholder:"DATABASE" help:"Print only the targets in this database, without psql commands."`
	User   string `placeholder:"ROLE" help:"Print only the targets that this role serves."`
}

// Run prints the DDL.
func (c *schemaCommand) Run(ctx context.Context, p *program) error {
	if c.Config == "" {
		if c.Data != "" || c.User != "" {
			return &usageError{errors.New("--data and --user need --config FILE")}
		}
		table := sql.Table{Schema: cmp.Or(c.Schema, "public"), Name: cmp.Or(c.Table, "task")}
		return p.printSQL(schema.DDL(table, schema.Options{Wake: sql.Wake(cmp.Or(c.Wake, string(sql.Auto))), Partitioned: c.Partitioned}))
	}
	if c.Wake != "" {
		return &usageError{errors.New("schema takes --config FILE or --wake, not both")}
	}
	file, err := conf.Read(c.Config)
	if err != nil {
		return err
	}
	text, err := c.configured(ctx, file)
	if err != nil {
		return err
	}
	return p.printSQL(text)
}

// configured returns the DDL of all selected targets.
func (c *schemaCommand) configured(ctx context.Context, file *conf.File) (string, error) {
	var b strings.Builder
	servers := map[string]bool{}
	for _, t := range file.Targets {
		servers[place(t).String()] = true
	}
	last, found, shared, roles := "", false, map[string]bool{}, map[string]role{}
	for i, t := range file.Targets {
		if !c.wants(t) {
			continue
		}
		found = true
		database := t.Connect["dbname"]
		login := t.Connect.String()
		if _, asked := roles[login]; !asked {
			roles[login] = serving(ctx, t)
		}
		role, how := roles[login].name, roles[login].how
		fmt.Fprintf(&b, "-- targets[%d]: table %s of database %q, which role %q serves%s. Database and role must exist.\n",
			i, human.Visible(t.Schema+"."+t.Table), human.Visible(database), human.Visible(role), how)
		where := remote.Settings{"dbname": database}
		if len(servers) > 1 {
			where = where.With(place(t))
		}
		if next := where.String(); c.Data == "" && next != last {
			line, err := reconnect(where)
			if err != nil {
				return "", err
			}
			b.WriteString(line)
			last = next
		}
		b.WriteString(schema.DDL(sql.Table{Schema: t.Schema, Name: t.Table},
			schema.Options{
				Defaults: t.Defaults, Wake: t.Wake, Role: role, Inserter: t.Inserter, Serving: role, Trust: t.Trust,
				Partitioned: c.Partitioned, Further: shared[where.String()+" "+t.Schema],
			}) + "\n")
		shared[where.String()+" "+t.Schema] = true
	}
	if !found {
		return "", errors.New("no target of the configuration matches")
	}
	return b.String(), nil
}

// roleLimit bounds the wait for a server that need not be there.
const roleLimit = 3 * time.Second

// role serves a target; how tells how that is known.
type role struct{ name, how string }

// serving returns the role that serves a target, as run finds it.
func serving(ctx context.Context, t work.Target) role {
	ctx, cancel := context.WithTimeout(ctx, roleLimit)
	defer cancel()
	login := t.Connect["user"]
	name, err := work.Role(ctx, t)
	switch {
	case err != nil:
		return role{login, " (not asked, for it cannot connect now, whether ALTER ROLE … SET role has it act as another)"}
	case name != login:
		return role{name, fmt.Sprintf(" (login %q acts as it, as ALTER ROLE … SET role says)", human.Visible(login))}
	}
	return role{name: name}
}

func (c *schemaCommand) wants(t work.Target) bool {
	asked := func(name, has string) bool { return name == "" || name == has }
	return asked(c.Data, t.Connect["dbname"]) && asked(c.User, t.Connect["user"]) && asked(c.Schema, t.Schema) &&
		asked(c.Table, t.Table)
}

// place returns the server of a target, as its dsn names it.
func place(t work.Target) remote.Settings {
	return remote.Settings{}.With(remote.Settings{"host": t.Connect["host"], "hostaddr": t.Connect["hostaddr"], "port": t.Connect["port"]})
}

// reconnect returns the psql command that connects to a database as the same user.
func reconnect(where remote.Settings) (string, error) {
	text := where.String()
	if human.Visible(text) != text {
		return "", errors.New("the name of a database cannot be written in a psql command: print the targets of each database with --data")
	}
	return `\connect -reuse-previous=on "` + strings.ReplaceAll(text, `"`, `""`) + "\"\n", nil
}

// printSQL writes statements unchanged, for psql, which stops at the first error. It refuses a
// terminal if a name contains characters that the terminal could obey.
func (p *program) printSQL(text string) error {
	text = "\\set ON_ERROR_STOP on\n\\set SHOW_CONTEXT never\n" + text
	if file, ok := p.stdout.(*os.File); ok && isTerminal(file) && !harmless(text) {
		return errors.New("the statements contain characters that a terminal does not show: redirect them to a file")
	}
	_, err := io.WriteString(p.stdout, text)
	return err
}

// harmless reports whether a terminal shows all of a text.
func harmless(text string) bool {
	plain := strings.NewReplacer("\n", "", "\t", "").Replace(text)
	return human.Visible(plain) == plain
}
