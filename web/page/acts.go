package page

import (
	"context"

	"pgtaskd/sql"
	"pgtaskd/web/rows"
)

// actsPage shows what was done from the page, and by whom.
var actsPage = Kind{Path: "/acts", Name: "acts", Title: "Acts", Read: ofTarget(readActs)}

const actsMost = 100

func readActs(ctx context.Context, a *Asked, b *rows.Table, c *Content) error {
	if !b.Has("act") {
		c.Notes = append(c.Notes, "There is no table "+sql.Beside(b.Name, "act")+": only acts on one task work, and are not recorded. "+
			"Let the owner of the table of tasks run the output of pgtaskd schema, which makes it.")
		return nil
	}
	found, err := b.Acts(ctx, a.Hidden, actsMost)
	if len(found) >= actsMost {
		c.Notes = append(c.Notes, "These are the newest 100 acts.")
	}
	c.Rows = found
	return err
}
