package page

import (
	"context"

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
		if !b.Has("error") {
			c.Notes = append(c.Notes, "There is no view of errors beside the table: pgtaskd check says what is in the way.")
			c.Rows = []rows.Failure{}
			return nil
		}
		found, err := b.Failures(ctx, errorsMost)
		c.Rows = found
		return err
	})
	return c, err
}
