package main

import "context"

// inserts is the rate at which pgbench inserts tasks that are not due yet into the served table,
// compared with a copy of the table without triggers. The two take turns. A turn must not be short:
// the first INSERT of a session takes 2.6 ms to load PL/pgSQL and the trigger functions.
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
	f := figure{name: i.name, bar: i.bar, aim: i.aim}
	err := s.serve(ctx, 0, func(ctx context.Context, _ *process) error {
		if err := s.db.first(ctx); err != nil {
			return err
		}
		for n := range s.turns { // the speed of the machine may change
			tables, rates := []string{"task", "peer"}, []*float64{&f.value, &f.peer}
			for k := range tables {
				k ^= n % 2
				rate, err := s.pgbench(ctx, s.seconds(), "later_insert.sql", i.clients, threads(i.clients), "table="+tables[k])
				if err != nil {
					return err
				}
				*rates[k] += rate / float64(s.turns)
			}
		}
		return nil
	})
	return []figure{f}, err
}
