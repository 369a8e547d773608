package pgcron

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"pgtaskd/moving"
	"pgtaskd/sql"
)

// Place is the database of the jobs, with its pg_cron settings.
type Place struct {
	Zone     string // of all schedules; "": GMT
	Host     string // where pg_cron reaches this server
	Port     int32
	Database string
	User     string
}

// Job is a row of cron.job.
type Job struct {
	ID                int64
	Name              string // may be empty
	Schedule, Command string
	Node              string
	Port              int32
	Database, User    string
	Active            bool
}

// Read reads the jobs of the connection's database.
func Read(ctx context.Context, conn *pgx.Conn, trust []string) (p Place, jobs []Job, err error) {
	there := false
	err = conn.QueryRow(ctx, sql.File("moving/pgcron/place")).Scan(&there, &p.Zone, &p.Host, &p.Port, &p.Database, &p.User)
	if err == nil && !there {
		err = fmt.Errorf("database %q has no pg_cron: connect to the one that SHOW cron.database_name names, postgres by default", p.Database)
	}
	if err == nil {
		jobs, err = moving.Read[Job](ctx, conn, trust, "pg_cron", sql.File("moving/pgcron/jobs"), "cron.job")
	}
	return p, jobs, err
}
