package main

import (
	"context"
	"fmt"
	"time"

	"pgtaskd/bench/proc"
)

// targets is the cost of a controller that serves many idle tables.
type targets struct {
	count               int
	watched             time.Duration
	cpu, memory, number figure

	stand *stand // nil: not made yet
}

func (t *targets) title() string { return fmt.Sprintf("%d idle targets", t.count) }

func (t *targets) measure(ctx context.Context, s *stand) (_ []figure, err error) {
	if t.stand == nil {
		if t.stand, err = s.another(ctx, "targets"); err != nil {
			return nil, err
		}
		if err := t.stand.db.install(ctx, tableNames(t.count)...); err != nil {
			return nil, err
		}
	}
	err = t.stand.serveAll(ctx, t.stand.db.targets(t.count, 0), t.watch)
	t.cpu.name, t.cpu.unit = t.title()+", of a core", "%"
	t.memory.name, t.memory.unit = t.title()+", memory", "MB"
	t.number.name, t.number.unit = t.title()+", connections", "each"
	return []figure{t.cpu, t.memory, t.number}, err
}

// settling is the time after the last target's connection until the controller counts as idle.
const settling = 3 * time.Second

// served waits until this many targets are served and are idle.
func (d *database) served(ctx context.Context, count int, most time.Duration) error {
	if err := d.await(ctx, "SELECT count(DISTINCT application_name) >= $1 FROM pg_stat_activity WHERE "+controls, count); err != nil {
		return err
	}
	return pause(ctx, min(settling, most))
}

func (t *targets) watch(ctx context.Context, p *process) error {
	err := t.stand.db.served(ctx, t.count, t.watched)
	if err != nil {
		return err
	}
	if t.cpu.value, err = p.share(ctx, t.watched, func(context.Context) error { return nil }); err != nil {
		return err
	}
	var connections float64
	if err := t.stand.db.conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE "+controls).Scan(&connections); err != nil {
		return err
	}
	t.number.value = connections / float64(t.count)
	t.memory.value, err = proc.Memory(p.pid, "VmRSS")
	return err
}

// controls selects the connections of controllers.
const controls = "datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'pgtaskd %'"

// targets returns the configuration's entries for this many tables.
func (d *database) targets(count, run int) (all []map[string]any) {
	for _, table := range tableNames(count) {
		all = append(all, d.target(table, run))
	}
	return all
}

// tableNames returns the names of this many task tables.
func tableNames(count int) (all []string) {
	for i := range count {
		all = append(all, fmt.Sprintf("task_%d", i+1))
	}
	return all
}
