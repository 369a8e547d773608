package main

import (
	"cmp"
	"context"
	"fmt"
)

// load are the rows in a table apart from the measured tasks.
type load struct {
	finished int // tasks that have ended
	later    int // tasks that are planned for tomorrow
	changes  int // changes of tasks that vacuum cannot clear because of an open transaction
}

func (l load) String() string {
	return fmt.Sprintf("%s finished, %s planned, %s changes held", grouped(l.finished), grouped(l.later), grouped(l.changes))
}

// loaded is the rate of a backlog in a table with many other rows, compared with that in a table as
// good as new.
type loaded struct {
	name     string
	tasks    backlog
	load     load
	bar, aim float64

	stand *stand // nil: not made yet
	seen  float64
}

func (l *loaded) title() string { return fmt.Sprintf("%s; %s", l.name, l.load) }

func (l *loaded) measure(ctx context.Context, s *stand) ([]figure, error) {
	fresh, err := l.tasks.rate(ctx, s, cmp.Or(l.seen, 1000))
	if err != nil {
		return nil, err
	}
	l.seen = fresh
	freshCost := s.cost
	if l.stand == nil {
		if l.stand, err = l.load.make(ctx, s); err != nil {
			return nil, err
		}
	}
	value, err := l.tasks.rate(ctx, l.stand, fresh)
	f := figure{name: l.title(), value: value, peer: fresh, bar: l.bar, aim: l.aim, cost: l.stand.cost, peerCost: freshCost}
	return []figure{f}, err
}

// make makes a database with the load.
func (l load) make(ctx context.Context, s *stand) (*stand, error) {
	fmt.Fprintf(s.progress, "making a table with %s\n", l)
	other, err := s.another(ctx, "loaded")
	if err != nil {
		return nil, err
	}
	if _, err := other.db.add(ctx, "finished.sql", l.finished-l.changes, 1); err != nil {
		return nil, err
	}
	if _, err := other.db.add(ctx, "later.sql", l.later, 1); err != nil {
		return nil, err
	}
	if err := other.db.settle(ctx); err != nil {
		return nil, err
	}
	if err := other.db.hold(ctx); err != nil {
		return nil, err
	}
	return other, other.db.change(ctx, l.changes)
}

// hold begins a transaction that lasts as long as the bench. Vacuum cannot clear rows that die
// after its snapshot.
func (d *database) hold(ctx context.Context) error {
	conn, err := d.connect(ctx)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM task LIMIT 1")
	return err
}

// change ends tasks as a controller does.
func (d *database) change(ctx context.Context, changes int) error {
	last, err := d.add(ctx, "due.sql", changes, 1)
	if err != nil {
		return err
	}
	if _, err := d.conn.Exec(ctx, text("finish.sql"), last); err != nil {
		return err
	}
	return d.execute(ctx, "CHECKPOINT")
}
