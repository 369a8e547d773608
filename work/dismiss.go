package work

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"pgtaskd/exec"
	"pgtaskd/routine"
	"pgtaskd/work/pool"
)

// dismiss ends the backends that have not obeyed: by themselves they would go on until they next
// speak to us, who have hung up. Those that only their own role may end are left to dismissals.
func (l *loop) dismiss(ctx context.Context, ends []end) error {
	var stay []pool.Backend
	for _, e := range ends {
		if e.stays {
			stay = append(stay, pool.Backend{PID: e.PID, Since: e.Since})
		}
	}
	if len(stay) == 0 {
		return nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	left, err := l.dismissThose(ctx, l.control.conn, stay)
	if err != nil {
		return err
	}
	for i := range ends {
		if role := ends[i].Task.Row.Role.Name; ends[i].stays && role != "" && left[ends[i].PID] {
			l.dismissals.add(role, pool.Backend{PID: ends[i].PID, Since: ends[i].Since})
		}
		ends[i].stays = false
	}
	return nil
}

// dismissThose ends those of the backends that the connection's role may end, and returns which of
// the others live.
func (l *loop) dismissThose(ctx context.Context, conn *pgx.Conn, those []pool.Backend) (left map[int32]bool, err error) {
	pids, since := make([]int64, len(those)), make([]time.Time, len(those))
	for i, b := range those {
		pids[i], since[i] = int64(b.PID), b.Since
	}
	rows, err := conn.Query(ctx, l.queries().Text("dismiss"), pids, since)
	if err != nil {
		return nil, err
	}
	left = map[int32]bool{}
	var pid int32
	var ended *bool
	_, err = pgx.ForEachRow(rows, []any{&pid, &ended}, func() error {
		left[pid] = ended == nil
		return nil
	})
	return left, err
}

// dismissAs ends backends of ours as the role that they are of.
func (l *loop) dismissAs(ctx context.Context, role string, those []pool.Backend) error {
	settings, err := l.target.login(ctx, role)
	if err != nil {
		return err
	}
	cfg, err := ownConfig(settings, map[string]string{"application_name": controlName(l.target)})
	if err != nil {
		return err
	}
	exec.Share(ctx, &cfg.Config, l.purses.Of(role))
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	_, err = l.dismissThose(ctx, conn, those)
	return errors.Join(err, conn.Close(ctx))
}

const (
	dismissLimit  = 2 * time.Second // for one login and what it ends
	dismissAgain  = 5 * time.Second // from a failure to the role's next login, then twice that,
	dismissLong   = time.Minute     // up to this: then what was tried is given up
	dismissMost   = 1000            // backends of one role that are kept
	dismissLogins = 3               // at once, of all roles
)

// dismissals end backends of ours in sessions of their own roles, where the server lets nobody
// else. It is up to the role how long its login takes, and whether it succeeds: so the loop does
// not wait for it, and each role with such backends has a goroutine. Whether we lead does not
// matter: what is ended was ours, and has been given up. Any goroutine may use them.
type dismissals struct {
	crew   *routine.Group
	end    func(ctx context.Context, role string, those []pool.Backend) error
	log    zerolog.Logger
	logins chan struct{} // as many as there are at once
	rested chan struct{} // poked when a role is at it no more

	mu   sync.Mutex
	left map[string][]pool.Backend // by role
	busy int                       // roles that do not wait after a failure
}

func newDismissals(crew *routine.Group, log zerolog.Logger, end func(context.Context, string, []pool.Backend) error) *dismissals {
	return &dismissals{
		crew: crew, end: end, log: log, left: map[string][]pool.Backend{},
		logins: make(chan struct{}, dismissLogins), rested: make(chan struct{}, 1),
	}
}

// add has a backend ended, if there are not too many of the role's.
func (d *dismissals) add(role string, b pool.Backend) {
	d.mu.Lock()
	defer d.mu.Unlock()
	left, known := d.left[role]
	if len(left) < dismissMost {
		d.left[role] = append(left, b)
	}
	if !known {
		d.busy++
		d.crew.Go(func() { d.see(role) })
	}
}

// see ends the backends of a role, with one login for all that there are.
func (d *dismissals) see(role string) {
	ctx := d.crew.Context()
	defer d.rests()
	for pause := dismissAgain; ctx.Err() == nil; {
		select {
		case d.logins <- struct{}{}:
		case <-ctx.Done():
			return
		}
		tried, err := d.try(ctx, role)
		<-d.logins
		switch {
		case err == nil:
			pause = dismissAgain
		case pause < dismissLong:
			tried = 0 // once more
		}
		if d.over(role, tried) {
			return
		}
		if err == nil {
			continue
		}
		d.log.Debug().Err(err).Str("role", legible(role)).Msg("cannot end sessions of another role")
		d.rests()
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		d.goesOn()
		pause = min(2*pause, dismissLong)
	}
}

// try returns how many backends it has tried to end.
func (d *dismissals) try(ctx context.Context, role string) (tried int, err error) {
	ctx, cancel := context.WithTimeout(ctx, dismissLimit)
	defer cancel()
	d.mu.Lock()
	those := slices.Clone(d.left[role])
	d.mu.Unlock()
	return len(those), d.end(ctx, role, those)
}

// over forgets the first backends of a role, and tells whether there are no others.
func (d *dismissals) over(role string, done int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left[role] = d.left[role][done:]; len(d.left[role]) > 0 {
		return false
	}
	delete(d.left, role)
	return true
}

func (d *dismissals) goesOn() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy++
}

func (d *dismissals) rests() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy--
	poke(d.rested)
}

func (d *dismissals) isBusy() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.busy > 0
}

// await waits until all have had their turn, but no longer than one login may take.
func (d *dismissals) await() {
	limit := time.After(dismissLimit)
	for d.isBusy() {
		select {
		case <-d.rested:
		case <-limit:
			return
		case <-d.crew.Context().Done():
			return
		}
	}
}
