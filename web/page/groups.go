package page

import (
	"context"
	"errors"

	"pgtaskd/sql"
	"pgtaskd/web/rows"
)

// groupsPage shows the limits of groups, and what waits and runs in each.
var groupsPage = Kind{
	Path: "/groups", Name: "groups", Title: "Groups", Takes: []string{"group", "after"}, Read: ofTarget(readGroups),
}

const groupsLength = 100

func readGroups(ctx context.Context, a *Asked, b *rows.Table, c *Content) error {
	if !b.Has("group") {
		c.Notes = append(c.Notes, "There is no table "+sql.Beside(b.Name, "group")+": pgtaskd run makes it, and its log says what is in the way.")
		return nil
	}
	c.View = &rows.Group{} // of which the form for another group has the fields
	found, err := b.Groups(ctx, a.Query.Get("group"), a.Query.Get("after"), groupsLength+1)
	if errors.Is(err, rows.ErrEncoding) {
		return Wrong("%s", err)
	}
	if len(found) > 0 && found[0].More {
		c.Notes = append(c.Notes, "Only the first 100,000 due tasks are counted.")
	}
	if len(found) > groupsLength {
		found = found[:groupsLength]
		c.Next = a.With("after", found[groupsLength-1].Group)
	}
	c.Rows = found
	return err
}
