package main

import "context"

// add has a statement insert one task and returns its id, adds copies of it until there are count,
// all in so many lanes (1: in the task's own), and returns the last id that was there before.
func (s *stand) add(ctx context.Context, template string, count, lanes int) (last int64, err error) {
	if last, err = s.last(ctx); err != nil || count == 0 {
		return last, err
	}
	var id int64
	if err := s.conn.QueryRow(ctx, text(template)).Scan(&id); err != nil {
		return last, err
	}
	_, err = s.conn.Exec(ctx, text("multiply.sql"), id, count-1, lanes)
	return last, err
}

// settle leaves nothing for vacuum to do, nor for a checkpoint.
func (s *stand) settle(ctx context.Context) error {
	return s.execute(ctx, "VACUUM (ANALYZE) task", "CHECKPOINT")
}
