package apply

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/conf"
	"pgtaskd/sql"
)

// Options are the options of the command.
type Options struct {
	Owner  string // of the jobs; not empty
	Prune  bool   // removes jobs of the owner that are in no file
	DryRun bool   // rolls all changes back

	Inserter bool // the configuration runs each task under the role that inserted it
}

// tries is how often Run begins a transaction that meets others.
const tries = 10

// Run changes the jobs of a table to those of the files, in one transaction. If anything is wrong,
// it changes nothing; the error is conf.Faults if a place in a file is at fault.
func Run(ctx context.Context, conn *pgx.Conn, name sql.Table, jobs Jobs, o Options) (Result, error) {
	for try := 1; ; try++ {
		result, err := once(ctx, conn, name, jobs, o)
		if !crossed(err) || try == tries {
			return result, err
		}
	}
}

// crossed reports whether the transaction met another: a run ended meanwhile, or somebody inserted
// the same job.
func crossed(err error) bool {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		return false
	}
	return answer.Code == "40001" || answer.Code == "40P01" ||
		answer.Code == "23505" && sql.IsWaitKey(answer.ConstraintName)
}

// once is one try of Run.
func once(ctx context.Context, conn *pgx.Conn, name sql.Table, jobs Jobs, o Options) (result Result, err error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // if this fails, the server rolls back by itself
	t, err := describe(ctx, tx, name, o.Inserter)
	if err == nil && t.byName["owner"] == nil { // it says which jobs are those of the files
		err = t.lacks("owner")
	}
	if err == nil {
		err = t.check(jobs)
	}
	if err != nil {
		return Result{}, err
	}
	all := t.want(jobs)
	if err := t.understand(ctx, tx, all); err != nil {
		return Result{}, err
	}
	before, err := t.lockRows(ctx, tx, all, o.Owner)
	if err != nil {
		return Result{}, err
	}
	if err := foreign(all, before, o.Owner); err != nil {
		return Result{}, err
	}
	if err := t.expire(ctx, tx, all, before); err != nil {
		return Result{}, err
	}
	pruned, err := t.prune(ctx, tx, all, before, o)
	if err != nil {
		return Result{}, err
	}
	written, err := t.write(ctx, tx, all, before, o.Owner)
	if err != nil {
		return Result{}, err
	}
	// An INSERT trigger can fill columns that the files do not name; they get their defaults now.
	after, err := t.write(ctx, tx, all, written, o.Owner)
	if err != nil {
		return Result{}, err
	}
	if err := t.kept(all, after); err != nil {
		return Result{}, err
	}
	result = t.compare(all, before, after, o.Owner)
	result.add(pruned, o.Prune)
	if _, err := tx.Exec(ctx, "SET CONSTRAINTS ALL IMMEDIATE"); err != nil || o.DryRun {
		return result, err
	}
	return result, tx.Commit(ctx)
}

// expire marks the jobs that are not inserted: their series is over, and no task of theirs waits or
// runs.
func (t *table) expire(ctx context.Context, tx pgx.Tx, all []*wanted, rows rowsByKey) error {
	for _, w := range all {
		until := w.texts["until"]
		if until == nil || len(rows[w.job.Key]) > 0 {
			continue
		}
		if err := tx.QueryRow(ctx, t.statement("expired", nil), *until, w.job.Key, w.texts["cron"], w.texts["repeat"]).Scan(&w.expired); err != nil {
			return err
		}
	}
	return nil
}

// kept reports the values of the files that the table has not kept.
func (t *table) kept(all []*wanted, rows rowsByKey) error {
	var faults conf.Faults
	for _, w := range all {
		if len(rows[w.job.Key]) == 0 && !w.expired {
			faults.Add(w.job.at, "the job is not there after its INSERT: a trigger of the table has taken it away")
		}
		for _, r := range rows[w.job.Key] {
			for _, c := range t.differences(w, r) {
				if f, named := w.job.named[c.name]; named {
					faults.Add(f.at, "the table does not take this value: a trigger makes it %s", shown(c.name, r.texts[c.name]))
				}
			}
		}
	}
	return faults.Err()
}

// compare returns the changes of the jobs.
func (t *table) compare(all []*wanted, before, after rowsByKey, owner string) (result Result) {
	for _, w := range all {
		key := w.job.Key
		was := before[key]
		switch {
		case w.expired:
			result.Expired = append(result.Expired, key)
		case len(was) == 0:
			change := Change{Kind: New, Key: key}
			for _, name := range w.job.columns {
				if name != "key" {
					change.Columns = append(change.Columns, Diff{Column: name, New: w.texts[name]})
				}
			}
			result.Changes = append(result.Changes, change)
		default:
			change := Change{Kind: Changed, Key: key, Columns: t.changed(was, after[key])}
			if slices.ContainsFunc(was, func(r row) bool { return r.owner == nil }) {
				change.Notes = append(change.Notes, fmt.Sprintf("had no owner, belongs to %q now", owner))
			}
			stays := pauses(was)
			if len(change.Columns)+len(change.Notes) == 0 {
				if result.Unchanged++; len(stays) > 0 {
					result.Paused = append(result.Paused, Change{Kind: Same, Key: key, Notes: stays})
				}
				continue
			}
			change.Notes = append(change.Notes, stays...)
			if slices.ContainsFunc(was, func(r row) bool { return r.running }) {
				change.Notes = append(change.Notes, "it runs now: that run goes on as it began")
			}
			result.Changes = append(result.Changes, change)
		}
	}
	return result
}

// pauses says that a job stays paused, and how to resume it.
func pauses(rows []row) (notes []string) {
	for _, r := range rows {
		if r.paused != nil {
			notes = append(notes, fmt.Sprintf("stays %s; pgtaskd act resume %d lets it go on", *r.paused, r.id))
		}
	}
	return notes
}

// changed returns the columns with new values. If several rows differ in a column, it shows the
// first.
func (t *table) changed(before, after []row) (all []Diff) {
	now := map[int64]row{}
	for _, r := range after {
		now[r.id] = r
	}
	for _, c := range t.columns {
		for _, r := range before {
			if new, there := now[r.id]; there && !same(r.texts[c.name], new.texts[c.name]) {
				all = append(all, Diff{c.name, r.texts[c.name], new.texts[c.name]})
				break
			}
		}
	}
	return all
}

// add adds the jobs that were pruned, or would be.
func (r *Result) add(pruned map[string]bool, prune bool) {
	for _, key := range slices.Sorted(maps.Keys(pruned)) {
		if !prune {
			r.Unnamed = append(r.Unnamed, key)
			continue
		}
		change := Change{Kind: Pruned, Key: key}
		if pruned[key] {
			change.Notes = []string{"it runs now: that run goes on, and is the last"}
		}
		r.Changes = append(r.Changes, change)
	}
}
