package page

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"pgtaskd/sql"
	"pgtaskd/web/login"
	"pgtaskd/web/rows"
)

// groupsPage shows the limits of groups, and what waits and runs in each.
var groupsPage = Kind{
	Path: "/groups", Name: "groups", Title: "Groups", Key: "o", Takes: []string{"group", "after"}, Needs: login.Reader, Read: readGroups,
}

const groupsLength = 100

func readGroups(ctx context.Context, s *rows.Sessions, a *Asked) (*Content, error) {
	t, err := a.Target()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"group", "after"} {
		if value := a.Query.Get(name); !utf8.ValidString(value) || strings.Contains(value, "\x00") {
			return nil, wrong("%s must be text in UTF-8 without the character NUL", name)
		}
	}
	c := &Content{}
	err = s.Read(ctx, t.Target, ListLimit, func(ctx context.Context, b *rows.Table) error {
		if !b.Has("group") {
			c.Rows = []rows.Group{}
			c.Notes = append(c.Notes, "There is no table "+sql.Beside(b.Name, "group")+": pgtaskd run makes it, and its log says what is in the way.")
			return nil
		}
		found, err := b.Groups(ctx, a.Query.Get("group"), a.Query.Get("after"), groupsLength+1)
		if errors.Is(err, rows.ErrEncoding) {
			return wrong("%s", err)
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
	})
	return c, err
}
