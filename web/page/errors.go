package page

import (
	"context"
	"fmt"

	"pgtaskd/web/login"
	"pgtaskd/web/rows"
)

// errorsPage shows the errors, grouped.
var errorsPage = Kind{Path: "/errors", Name: "errors", Title: "Errors", Key: "e", Needs: login.Reader, Read: readErrors}

const errorsMost = 200

func readErrors(ctx context.Context, s *rows.Sessions, a *Asked) (*Content, error) {
	t, err := a.Target()
	if err != nil {
		return nil, err
	}
	c := &Content{}
	err = s.Read(ctx, t.Target, ListLimit, func(ctx context.Context, b *rows.Table) error {
		found, left, err := b.Failures(ctx, a.Hidden, ListLimit*6/10, errorsMost)
		c.Rows, c.Notes = found, []string{"Errors of the newest 100,000 tasks. Lines are compared up to 200 characters."}
		if left > 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("The time was over: the oldest %s of these errors are left out.", count(left)))
		}
		if len(found) >= errorsMost {
			c.Notes = append(c.Notes, fmt.Sprintf("Only the %d most frequent errors are shown.", errorsMost))
		}
		return err
	})
	return c, err
}
