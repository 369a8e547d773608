package ask

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"pgtaskd/human"
	"pgtaskd/sql/lock"
)

// Controller is a leader or a follower. Unknown fields are empty.
type Controller struct {
	Name    string  `json:"controller,omitempty"`
	PID     int32   `json:"pid,omitempty"` // of its session
	Host    string  `json:"host,omitempty"`
	Process int32   `json:"process,omitempty"` // its process id there
	Since   string  `json:"since,omitempty"`
	Seconds float64 `json:"seconds,omitempty"` // since then
	Version string  `json:"version,omitempty"`
}

func (c Controller) String() string {
	switch {
	case c.Process != 0:
		return fmt.Sprintf("%s process %d", c.Host, c.Process)
	case c.Host != "":
		return fmt.Sprintf("%s session pid %d", c.Host, c.PID)
	}
	return fmt.Sprint("session pid ", c.PID)
}

// controllers finds the leader, which holds the lock, and the followers, which have sessions. It
// reads catalogs only, so the table need not be admitted.
func (b *table) controllers(ctx context.Context, st *Status) error {
	holder, err := lock.Leadership(b.Name, false).Holder(ctx, b.conn)
	if err != nil {
		return err
	}
	var leads int32
	if holder != nil {
		leads = holder.PID
		st.Leader = &Controller{PID: leads}
	}
	rows, err := b.conn.Query(ctx, b.queries.Text("sessions"), leads, b.Target.ControlName(), b.Name.Schema, b.Name.Name)
	if err != nil {
		return err
	}
	var c Controller
	var own bool
	_, err = pgx.ForEachRow(rows, []any{&c.PID, &own, &c.Host, &c.Since, &c.Seconds}, func() error {
		one := c
		one.Since = human.ISO(c.Since)
		if own {
			st.Leader = &one
		} else {
			st.Followers = append(st.Followers, one)
		}
		return nil
	})
	return err
}

// registered adds facts from the table of controllers. A controller without a session does not
// count, whatever the table says.
func (b *table) registered(ctx context.Context, st *Status) error {
	if !b.Has("leader") {
		return nil
	}
	rows, err := b.conn.Query(ctx, b.queries.Text("controllers"))
	if err != nil {
		return err
	}
	var c Controller
	var leads, found bool
	var followers []Controller
	_, err = pgx.ForEachRow(rows, []any{&c.Name, &leads, &c.Since, &c.Seconds, &c.Host, &c.Process, &c.Version}, func() error {
		one := c
		one.Since = human.ISO(c.Since)
		switch {
		case !leads:
			followers = append(followers, one)
		case st.Leader != nil && !found:
			found = true
			one.PID = st.Leader.PID
			st.Leader = &one
		}
		return nil
	})
	// A leader that has written there may have several sessions.
	if found || len(followers) >= len(st.Followers) {
		st.Followers = append([]Controller{}, followers[:min(len(followers), len(st.Followers))]...)
	}
	return err
}
