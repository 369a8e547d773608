package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
)

// resetStatements begins to count statements, if the options ask for that.
func (s *stand) resetStatements(ctx context.Context) error {
	if !s.statements {
		return nil
	}
	_, err := s.db.conn.Exec(ctx, "SELECT pg_stat_statements_reset()")
	return err
}

// showStatements prints the server's statements since then. COMMIT includes its fsync; the time for
// parsing, and between statements, is not counted.
func (s *stand) showStatements(ctx context.Context) error {
	if !s.statements {
		return nil
	}
	rows, err := s.db.conn.Query(ctx, text("statements.sql"))
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "calls\trows\tplanning\texecution\tµs/call\tWAL bytes/call\t statement")
	var calls, count int64
	var planning, execution time.Duration
	var each, wal float64
	var statement string
	_, err = pgx.ForEachRow(rows, []any{&calls, &count, &planning, &execution, &each, &wal, &statement}, func() error {
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%.0f\t%.0f\t %s\n", calls, count,
			planning.Round(time.Millisecond), execution.Round(time.Millisecond), each, wal, statement)
		return nil
	})
	if err != nil {
		return err
	}
	return w.Flush()
}
