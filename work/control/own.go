package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/bound"
	"pgtaskd/exec/fault"
	"pgtaskd/remote"
	"pgtaskd/sql"
	"pgtaskd/sql/query"
	"pgtaskd/sql/schema"
	"pgtaskd/work/target"
)

// pinned are settings of every session of ours that runs no SQL of users. Startup parameters
// override ALTER DATABASE … SET and ALTER ROLE … SET. With these others could change the meaning of
// our statements, or load code into our sessions.
var pinned = map[string]string{
	"search_path":                    "pg_catalog, pg_temp",
	"client_encoding":                "UTF8",
	"DateStyle":                      "ISO",
	"IntervalStyle":                  "postgres",
	"standard_conforming_strings":    "on",
	"quote_all_identifiers":          "off",
	"row_security":                   "on",
	"jit":                            "off",
	"plan_cache_mode":                "force_generic_plan",
	"default_transaction_isolation":  "read committed",
	"default_transaction_deferrable": "off",
	"local_preload_libraries":        "",
}

// ownConfig configures a session that runs no SQL of users. All sessions use it, except those of
// tasks.
func ownConfig(s remote.Settings, parameters map[string]string) (*pgx.ConnConfig, error) {
	own, err := remote.Own(s)
	if err != nil {
		return nil, err
	}
	cfg, err := pgx.ParseConfig("")
	if err != nil {
		return nil, err
	}
	bound.Own(own)
	cfg.Config = *own
	maps.Copy(cfg.RuntimeParams, parameters)
	maps.Copy(cfg.RuntimeParams, pinned)
	return cfg, nil
}

func connect(ctx context.Context, cfg *pgx.ConnConfig) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, ConnectLimit)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, cfg)
	return conn, remote.Reason(err)
}

// Role returns the role as which a login acts: ALTER ROLE … SET role may give it another.
func Role(ctx context.Context, s remote.Settings) (role string, err error) {
	cfg, err := ownConfig(s, nil)
	if err != nil {
		return "", err
	}
	conn, err := connect(ctx, cfg)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = conn.QueryRow(ctx, "SELECT current_user::text").Scan(&role)
	return role, err
}

// Planning has settings for sessions that run statements on the task table. They make plans depend
// on the statement alone, not on statistics, which may say that the table is empty.
var Planning = map[string]string{
	"enable_seqscan":                  "off",
	"enable_bitmapscan":               "off",
	"enable_sort":                     "off",
	"enable_incremental_sort":         "off",
	"enable_hashjoin":                 "off",
	"enable_mergejoin":                "off",
	"enable_indexscan":                "on",
	"enable_indexonlyscan":            "on",
	"enable_tidscan":                  "on",
	"enable_nestloop":                 "on",
	"geqo":                            "off",
	"from_collapse_limit":             "8",
	"join_collapse_limit":             "8",
	"max_parallel_workers_per_gather": "0",
	"seq_page_cost":                   "1",
	"random_page_cost":                "4",
	"cpu_tuple_cost":                  "0.01",
	"cpu_index_tuple_cost":            "0.005",
	"cpu_operator_cost":               "0.0025",
}

func plansAlike(ctx context.Context, conn *pgx.Conn) error {
	var names, values []string
	for name, value := range Planning {
		names, values = append(names, name), append(values, value)
	}
	_, err := conn.Exec(ctx, query.Of(schema.Description{}, sql.Table{}).Text("planner"), names, values)
	return err
}

// endless replaces the role's transaction_timeout by limit ("0": none). It is no startup parameter,
// since servers before 17 do not know it and would refuse the connection.
func endless(ctx context.Context, conn *pgx.Conn, limit string) error {
	const name = "'transaction_timeout'"
	_, err := conn.Exec(ctx, "SELECT set_config("+name+", $1, false) WHERE current_setting("+name+", true) IS NOT NULL", limit)
	return err
}

// RoleSetting returns the value of a setting when the role's sessions begin. SHOW looks up no
// names, so their search_path cannot redirect it.
func RoleSetting(ctx context.Context, t target.Target, name string) (value string, err error) {
	cfg, err := ownConfig(t.Connect, map[string]string{"application_name": t.ControlName()})
	if err != nil {
		return "", err
	}
	delete(cfg.RuntimeParams, name)
	conn, err := connect(ctx, cfg)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	err = conn.QueryRow(ctx, "SHOW "+name, pgx.QueryExecModeSimpleProtocol).Scan(&value)
	return value, err
}

// Time limits for a person's commands. A walk through a large table is cut into much shorter
// statements.
const (
	askStatementLimit = time.Minute
	askLockLimit      = 10 * time.Second
)

// Dial opens a session of the target's role with our own settings, in which a person reads or
// changes tasks and jobs. It uses the same plans as the controller. name is its application_name.
// The error says what to do.
func Dial(ctx context.Context, t target.Target, name string) (*pgx.Conn, error) {
	cfg, err := ownConfig(t.Connect, map[string]string{
		"application_name":                    name,
		"idle_in_transaction_session_timeout": Milliseconds(askStatementLimit),
		"statement_timeout":                   Milliseconds(askStatementLimit),
		"lock_timeout":                        Milliseconds(askLockLimit),
	})
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, cfg)
	if err == nil {
		if err = errors.Join(endless(ctx, conn, "0"), plansAlike(ctx, conn)); err == nil {
			return conn, nil
		}
		_ = conn.Close(ctx)
	}
	if hint := fault.Hint(err); hint != "" {
		return nil, fmt.Errorf("%w (%s)", err, hint)
	}
	return nil, err
}
