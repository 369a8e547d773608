package conf

import (
	"cmp"
	"os"
	"strings"
	"time"

	"pgtaskd/remote"
	"pgtaskd/sql"
	"pgtaskd/work"
)

// What a target has where the configuration says nothing.
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

// PostgreSQL reads and sends no more than 1 GB at once; what is kept beside the
// output, and its escaping, need room too.
const mostOutput = 512 << 20

const mostInteger = 1<<31 - 1

// target is a target as it is written, before one value is derived from another.
type target struct {
	dsn                       remote.Settings
	data, user, schema, table string
	sleep, run                int64
	outputLimit, dataLimit    int64
	grace, idle, reset        time.Duration
	outputOver, wake          string
	timezone                  string
	create                    bool
	defaults                  map[string]string
	as                        string
	roles                     map[string]remote.Credential
	keep                      work.Keep
	trust                     []string
}

func newTarget(dsn remote.Settings) target {
	return target{
		dsn:    dsn,
		schema: defaultSchema, table: defaultTable,
		sleep: defaultSleep, run: defaultRun,
		grace: defaultGrace, idle: defaultIdle, reset: defaultReset,
		outputLimit: defaultOutput, outputOver: "cut",
		dataLimit: defaultData,
		wake:      string(sql.Auto),
		as:        "target",
		create:    true,
		defaults:  map[string]string{},
	}
}

func (r *reader) target(v value, dsn remote.Settings) work.Target {
	t := newTarget(dsn)
	r.object(v, keys{
		"dsn":          r.dsn(&t.dsn),
		"data":         r.name(&t.data),
		"user":         r.name(&t.user),
		"schema":       r.name(&t.schema),
		"table":        r.name(&t.table),
		"sleep":        r.whole(&t.sleep, "a number of milliseconds ≥ 1 (0 would never rest)", 1, mostInteger),
		"grace":        r.duration(&t.grace, 0),
		"idle":         r.duration(&t.idle, 0),
		"reset":        r.duration(&t.reset, time.Millisecond),
		"keep":         r.keep(&t.keep),
		"run":          r.whole(&t.run, "a number of tasks ≥ 1", 1, mostInteger),
		"defaults":     r.columns(t.defaults),
		"output_limit": r.whole(&t.outputLimit, "a number of bytes ≥ 0", 0, mostOutput),
		"data_limit":   r.whole(&t.dataLimit, "a number of bytes ≥ 0", 0, mostOutput),
		"output_over":  r.choice(&t.outputOver, "cut", "fail"),
		"create":       r.flag(&t.create),
		"timezone":     r.zone(&t.timezone),
		"as":           r.choice(&t.as, "target", "inserter"),
		"roles":        r.roles(&t.roles),
		"trust":        r.trust(&t.trust),
		"wake":         r.choice(&t.wake, string(sql.Auto), string(sql.Notify), string(sql.WAL), string(sql.Poll)),
	})
	if t.roles != nil && t.as != "inserter" {
		r.fault(v, `"roles" goes with "as": "inserter" alone`)
	}
	return t.resolve()
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
	t := newTarget(settings)
	t.user, t.data = config.User, cmp.Or(config.Database, config.User)
	return t.resolve(), nil
}

func (t target) resolve() work.Target {
	data := cmp.Or(t.data, t.user, "postgres")
	user := cmp.Or(t.user, t.data, "postgres")
	return work.Target{
		Connect: login(t.dsn, data, user),
		Admin:   t.dsn,
		Schema:  t.schema,
		Table:   t.table,
		Live: work.Live{
			Sleep: time.Duration(t.sleep) * time.Millisecond, Grace: t.grace, Idle: t.idle, Run: int(t.run),
			OutputLimit: t.outputLimit, OutputFail: t.outputOver == "fail", Keep: t.keep,
		},
		Reset:     t.reset,
		Defaults:  t.defaults,
		DataLimit: t.dataLimit,
		Create:    t.create,
		Wake:      sql.Wake(t.wake),
		TimeZone:  t.timezone,
		Inserter:  t.as == "inserter",
		Roles:     t.roles,
		Trust:     t.trust,
		Remotes:   map[string]string{},
	}
}

// login is the dsn for another database and role. What proves who the dsn's own
// role is says nothing about another; where the dsn names none, it is the
// target's role whose password it holds.
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
