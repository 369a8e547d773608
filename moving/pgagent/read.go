package pgagent

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/moving"
	"pgtaskd/sql"
)

// Place is the database of the jobs, with its pgAgent settings.
type Place struct {
	Zone     string // of all schedules
	Database string
	Now      time.Time
}

// Job is a row of pgagent.pga_job, with its enabled steps and schedules.
type Job struct {
	ID        int64
	Name      string
	Enabled   bool
	Agent     string // the only host whose agent runs it; "": any
	Steps     []Step
	Schedules []Schedule
}

// Step is a row of pgagent.pga_jobstep.
type Step struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"` // s: SQL, b: batch
	Code       string `json:"code"`
	Database   string `json:"database"`   // either this
	Connection string `json:"connection"` // or this, a connection string
	OnError    string `json:"onError"`    // f: the job fails; s, i: the next step runs
}

// Schedule is a row of pgagent.pga_schedule. The arrays mark matching values; none: all.
type Schedule struct {
	Name       string     `json:"name"`
	Start      time.Time  `json:"start"` // like End, between the years 1 and never
	End        *time.Time `json:"end"`
	Minutes    []bool     `json:"minutes"`
	Hours      []bool     `json:"hours"`
	Weekdays   []bool     `json:"weekdays"`  // Sunday first
	Monthdays  []bool     `json:"monthdays"` // the 32nd: last day
	Months     []bool     `json:"months"`
	Exceptions []string   `json:"exceptions"` // dates, times, or both
}

// Read reads the jobs of the connection's database.
func Read(ctx context.Context, conn *pgx.Conn, trust []string) (p Place, jobs []Job, err error) {
	if err = conn.QueryRow(ctx, sql.File("moving/pgagent/place")).Scan(&p.Zone, &p.Database, &p.Now); err == nil {
		jobs, err = moving.Read[Job](ctx, conn, trust, "pgAgent", sql.File("moving/pgagent/jobs"),
			"pgagent.pga_job", "pgagent.pga_jobstep", "pgagent.pga_schedule", "pgagent.pga_exception")
	}
	return p, jobs, err
}
