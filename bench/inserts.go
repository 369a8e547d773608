package main

import "context"

// inserts is the rate at which pgbench inserts tasks that are not yet due while the table is served, beside that into a copy of the
// table without any trigger.
type inserts struct {
	name     string
	clients  int
	bar, aim float64
}

func (i inserts) title() string { return i.name }

func (i inserts) measure(ctx context.Context, s *stand) ([]figure, error) {
	if err := s.empty(ctx); err != nil {
		return nil, err
	}
	peer, err := s.pgbench(ctx, "later_insert.sql", i.clients, "table=peer")
	if err != nil {
		return nil, err
	}
	if err := s.empty(ctx); err != nil {
		return nil, err
	}
	var value float64
	err = s.serve(ctx, 0, func(ctx context.Context, _ *process) (err error) {
		if err := s.first(ctx); err != nil {
			return err
		}
		value, err = s.pgbench(ctx, "later_insert.sql", i.clients, "table=task")
		return err
	})
	return []figure{{name: i.name, value: value, peer: peer, bar: i.bar, aim: i.aim}}, err
}
