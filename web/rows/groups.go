package rows

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Group is a row of the table of groups, or a group with due tasks that has none: its columns are
// NULL.
type Group struct {
	Group     string             `json:"group" db:"group"`
	Paused    *bool              `json:"paused" db:"paused"`
	Until     pgtype.Timestamptz `json:"until" db:"until"`
	Slots     *int32             `json:"slots" db:"slots"`
	Rate      *int32             `json:"rate" db:"rate"`
	Per       *string            `json:"per" db:"per"`
	Note      *string            `json:"note" db:"note"`
	ChangedBy *string            `json:"changed_by" db:"changed_by"`
	ChangedAt pgtype.Timestamptz `json:"changed_at" db:"changed_at"`
	InForce   bool               `json:"-" db:"in_force"`      // it pauses now
	PausedBy  *string            `json:"-" db:"paused_by"`     // a prefix that pauses it now
	Waiting   int64              `json:"waiting" db:"waiting"` // due tasks
	Running   int64              `json:"running" db:"running"`
	More      bool               `json:"-" db:"more"` // there are more due tasks than were counted
}

// Full reports whether no slot is free.
func (g *Group) Full() bool { return g.Slots != nil && g.Running >= int64(*g.Slots) }

// Prefix reports whether it stands for all groups that begin so.
func (g *Group) Prefix() bool { return g.Paused != nil && strings.HasSuffix(g.Group, "%") }

// Sendable reports whether a form can send the name: browsers change the ends of lines.
func (g *Group) Sendable() bool { return g.Group != "" && !strings.ContainsAny(g.Group, "\r\n") }

// Ends returns until as a form sends it back.
func (g *Group) Ends() string {
	switch {
	case !g.Until.Valid:
		return ""
	case g.Until.InfinityModifier != pgtype.Finite:
		return g.Until.InfinityModifier.String()
	}
	return g.Until.Time.Format(time.RFC3339Nano)
}

// Groups returns groups by name, from the one after a name on; one is a group alone. Both may be
// "".
func (b *Table) Groups(ctx context.Context, one, after string, most int) ([]Group, error) {
	if err := b.hashes(ctx); err != nil {
		return nil, err
	}
	found, err := list[Group](ctx, b, "groups", dueMost, optional(one), optional(after), most)
	return found, encoding(err)
}
