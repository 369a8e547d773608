package work

import (
	"context"

	"pgtaskd/work/pool"
)

// dismiss ends the backends that have not obeyed: by themselves they would go on until they next
// speak to us, who have hung up. One of another role that we may not end notices that by itself.
func (l *loop) dismiss(ctx context.Context, ends []end) error {
	var stay []pool.Backend
	for i := range ends {
		if ends[i].Stays {
			stay = append(stay, pool.Backend{PID: ends[i].PID, Since: ends[i].Since})
		}
	}
	if len(stay) == 0 {
		return nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	pids, since := columnsOf(stay)
	if _, err := l.control.conn.Exec(ctx, l.queries().Text("dismiss"), pids, since); err != nil {
		return err
	}
	for i := range ends {
		ends[i].Stays = false
	}
	return nil
}
