package timetable

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/moving"
	"pgtaskd/sql"
)

// Place is the database of the chains, with its settings.
type Place struct {
	Zone string // of the server
	User string // the chains have its rights
	Now  time.Time
}

// Chain is a row of timetable.chain, with its tasks in order.
type Chain struct {
	ID           int64
	Name         string
	RunAt        string // "": each minute
	Live         bool
	MaxInstances int32
	Timeout      int32 // milliseconds; 0: none
	SelfDestruct bool
	Exclusive    bool
	Client       string // the only client that runs it; "": any
	OnError      string
	Zone         string // "": the server's
	Tasks        []Task
}

// Task is a row of timetable.task.
type Task struct {
	ID          int64             `json:"id"`
	Name        string            `json:"name"`
	Kind        string            `json:"kind"` // SQL, PROGRAM, BUILTIN
	Command     string            `json:"command"`
	RunAs       string            `json:"runAs"`
	Connection  string            `json:"connection"`
	IgnoreError bool              `json:"ignoreError"`
	Autonomous  bool              `json:"autonomous"`
	Timeout     int64             `json:"timeout"`    // milliseconds; 0: none
	Parameters  []json.RawMessage `json:"parameters"` // the task runs once with each
}

// Read reads the chains of the connection's database.
func Read(ctx context.Context, conn *pgx.Conn, trust []string) (p Place, chains []Chain, err error) {
	if err = conn.QueryRow(ctx, sql.File("moving/timetable/place")).Scan(&p.Zone, &p.User, &p.Now); err == nil {
		chains, err = moving.Read[Chain](ctx, conn, trust, "pg_timetable", sql.File("moving/timetable/chains"),
			"timetable.chain", "timetable.task", "timetable.parameter")
	}
	var lack *pgconn.PgError
	if errors.As(err, &lack) && lack.Code == "42703" {
		err = errors.New("the tables are those of pg_timetable before version 4: have a later one migrate them first: " + lack.Message)
	}
	return p, chains, err
}
