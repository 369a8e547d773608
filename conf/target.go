package conf

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"pgtaskd/remote"
	"pgtaskd/sql"
	"pgtaskd/work"
	"pgtaskd/work/target"
)

// PostgreSQL reads and sends at most 1 GB at once; escaping and the rest of the row need room too.
const mostOutput = 512 << 20

const mostInteger = 1<<31 - 1

// newTarget returns a target with the defaults of the configuration.
func newTarget() work.Target {
	return work.Target{
		Schema: "public", Table: "task",
		Live:      target.Live{Sleep: time.Second, Grace: 25 * time.Second, Idle: time.Minute, Run: 32, OutputLimit: 8 << 20},
		Reset:     time.Hour,
		Defaults:  map[string]string{},
		DataLimit: 8 << 20,
		Create:    true,
		Wake:      sql.Auto,
		Remotes:   map[string]string{},
	}
}

func (r *reader) target(v value, dsn remote.Settings, cluster string) work.Target {
	t := newTarget()
	t.Cluster = cluster
	var data, user string
	sleep, run := t.Sleep.Milliseconds(), int64(t.Run)
	outputOver, as := "cut", "target"
	r.object(v, keys{
		"dsn":          into(r, &dsn, r.dsn),
		"data":         into(r, &data, identifier),
		"user":         into(r, &user, identifier),
		"schema":       into(r, &t.Schema, identifier),
		"table":        into(r, &t.Table, identifier),
		"sleep":        into(r, &sleep, whole("a number of milliseconds ≥ 1 (0 would never rest)", 1, mostInteger)),
		"grace":        into(r, &t.Grace, duration(0)),
		"idle":         into(r, &t.Idle, duration(0)),
		"quiet":        into(r, &t.Quiet, duration(0)),
		"reset":        into(r, &t.Reset, duration(time.Millisecond)),
		"keep":         func(v value) { t.Keep = r.keep(v) },
		"run":          into(r, &run, whole("a number of tasks ≥ 1", 1, mostInteger)),
		"defaults":     func(v value) { t.Defaults = r.columns(v) },
		"output_limit": into(r, &t.OutputLimit, whole("a number of bytes ≥ 0", 0, mostOutput)),
		"data_limit":   into(r, &t.DataLimit, whole("a number of bytes ≥ 0", 0, mostOutput)),
		"output_over":  into(r, &outputOver, choice("cut", "fail")),
		"create":       into(r, &t.Create, yesOrNo),
		"timezone":     into(r, &t.TimeZone, timeZone),
		"cluster":      into(r, &t.Cluster, identifier),
		"as":           into(r, &as, choice("target", "inserter")),
		"roles":        func(v value) { t.Roles = r.roles(v) },
		"trust":        func(v value) { t.Trust = r.trust(v) },
		"wake":         into(r, &t.Wake, choice(sql.Auto, sql.Notify, sql.WAL, sql.Poll)),
	})
	t.Sleep, t.Run = time.Duration(sleep)*time.Millisecond, int(run)
	t.OutputFail, t.Inserter = outputOver == "fail", as == "inserter"
	if t.Roles != nil && !t.Inserter {
		r.fault(v, `"roles" goes with "as": "inserter" alone`)
	}
	connect(&t, dsn, data, user)
	return t
}

// Single returns the target of a connection string, with defaults for all other settings. Its
// database and role are those that libpq would use. A word alone is the name of a database, as for
// psql.
func Single(dsn string) (work.Target, error) {
	settings, err := remote.Parse(dsn)
	if isWord := dsn != "" && !strings.ContainsAny(dsn, "=:/\\'\" \t\r\n\x00"); isWord {
		if file, err := os.Stat(dsn); err == nil && file.Mode().IsRegular() || strings.HasSuffix(dsn, ".json") {
			return work.Target{}, fmt.Errorf("%q is a file: give a configuration as --config %[1]s", dsn)
		}
		settings, err = remote.Settings{"dbname": dsn}, nil
	}
	if err != nil {
		return work.Target{}, err
	}
	config, err := remote.Own(settings)
	if err != nil {
		return work.Target{}, err
	}
	t := newTarget()
	connect(&t, settings, cmp.Or(config.Database, config.User), config.User)
	return t, nil
}

// connect sets the connections of a target. If only one of database and role is given, the other
// gets the same name. Passwords and keys of the dsn's role prove nothing about another role, so
// connect leaves them out. If the dsn names no role, they belong to the target's role.
func connect(t *work.Target, dsn remote.Settings, data, user string) {
	data, user = cmp.Or(data, user, "postgres"), cmp.Or(user, data, "postgres")
	t.Admin, t.Connect = dsn, dsn.With(remote.Settings{"dbname": data, "user": user})
	if dsn["user"] != "" && dsn["user"] != user {
		for _, proof := range []string{"password", "scram_client_key", "scram_server_key"} {
			delete(t.Connect, proof)
		}
	}
}

// identity is equal for targets with the same table, as far as pgtaskd can tell without asking the
// servers: one server may have several names, and a table may be a partition of another.
func identity(t work.Target) string {
	server := t.Connect
	return strings.Join([]string{
		strings.ToLower(cmp.Or(server["host"], os.Getenv("PGHOST"))),
		cmp.Or(server["hostaddr"], os.Getenv("PGHOSTADDR")),
		cmp.Or(server["port"], os.Getenv("PGPORT"), "5432"),
		cmp.Or(server["service"], os.Getenv("PGSERVICE")),
		server["dbname"], t.Schema, t.Table,
	}, "\x00")
}
