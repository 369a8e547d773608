package conf

import (
	"cmp"
	"os"
	"strings"
	"time"

	"pgtaskd/remote"
	"pgtaskd/sql"
	"pgtaskd/work"
	"pgtaskd/work/target"
)

// Defaults of a target's settings.
const (
	defaultSchema = "public"
	defaultTable  = "task"
	defaultSleep  = 1000 // milliseconds
	defaultGrace  = 25 * time.Second
	defaultIdle   = time.Minute
	defaultReset  = time.Hour
	defaultRun    = 32
	defaultOutput = 8 << 20 // bytes
	defaultData   = 8 << 20 // likewise
)

// PostgreSQL reads and sends no more than 1 GB at once; the rest of the row, and escaping, need
// room too.
const mostOutput = 512 << 20

const mostInteger = 1<<31 - 1

// newTarget is a target where the configuration says nothing.
func newTarget() work.Target {
	return work.Target{
		Schema: defaultSchema, Table: defaultTable,
		Live: target.Live{
			Sleep: defaultSleep * time.Millisecond, Grace: defaultGrace, Idle: defaultIdle,
			Run: defaultRun, OutputLimit: defaultOutput,
		},
		Reset:     defaultReset,
		Defaults:  map[string]string{},
		DataLimit: defaultData,
		Create:    true,
		Wake:      sql.Auto,
		Remotes:   map[string]string{},
	}
}

func (r *reader) target(v value, dsn remote.Settings) work.Target {
	t := newTarget()
	var data, user string
	sleep, run := int64(defaultSleep), int64(defaultRun)
	outputOver, as, wake := "cut", "target", string(t.Wake)
	r.object(v, keys{
		"dsn":          r.dsn(&dsn),
		"data":         r.name(&data),
		"user":         r.name(&user),
		"schema":       r.name(&t.Schema),
		"table":        r.name(&t.Table),
		"sleep":        r.whole(&sleep, "a number of milliseconds ≥ 1 (0 would never rest)", 1, mostInteger),
		"grace":        r.duration(&t.Grace, 0),
		"idle":         r.duration(&t.Idle, 0),
		"reset":        r.duration(&t.Reset, time.Millisecond),
		"keep":         r.keep(&t.Keep),
		"run":          r.whole(&run, "a number of tasks ≥ 1", 1, mostInteger),
		"defaults":     r.columns(t.Defaults),
		"output_limit": r.whole(&t.OutputLimit, "a number of bytes ≥ 0", 0, mostOutput),
		"data_limit":   r.whole(&t.DataLimit, "a number of bytes ≥ 0", 0, mostOutput),
		"output_over":  r.choice(&outputOver, "cut", "fail"),
		"create":       r.flag(&t.Create),
		"timezone":     r.zone(&t.TimeZone),
		"as":           r.choice(&as, "target", "inserter"),
		"roles":        r.roles(&t.Roles),
		"trust":        r.trust(&t.Trust),
		"wake":         r.choice(&wake, string(sql.Auto), string(sql.Notify), string(sql.WAL), string(sql.Poll)),
	})
	t.Sleep, t.Run = time.Duration(sleep)*time.Millisecond, int(run)
	t.OutputFail, t.Inserter, t.Wake = outputOver == "fail", as == "inserter", sql.Wake(wake)
	if t.Roles != nil && !t.Inserter {
		r.fault(v, `"roles" goes with "as": "inserter" alone`)
	}
	connect(&t, dsn, data, user)
	return t
}

// Single is the target of a connection string, with the default of every other
// setting. Its database and role are those to which libpq would connect.
func Single(dsn string) (work.Target, error) {
	settings, err := remote.Parse(dsn)
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

// connect sets the connections of a target. The database and the role, where they are not given,
// are named after each other.
func connect(t *work.Target, dsn remote.Settings, data, user string) {
	t.Connect = login(dsn, cmp.Or(data, user, "postgres"), cmp.Or(user, data, "postgres"))
	t.Admin = dsn
}

// login is the dsn for another database and role. Passwords and keys of the dsn's own role prove
// nothing about another role, and are left out; if the dsn names no role, they are those of the
// target's role.
func login(dsn remote.Settings, data, user string) remote.Settings {
	settings := dsn.With(remote.Settings{"dbname": data, "user": user})
	if dsn["user"] != "" && dsn["user"] != user {
		for _, proof := range []string{"password", "scram_client_key", "scram_server_key"} {
			delete(settings, proof)
		}
	}
	return settings
}

// identity is equal for targets that have the same table, as far as can be told
// without asking the servers: one server may have several names, and a table
// may be another's partition.
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
