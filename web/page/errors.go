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
		var found []rows.Failure
		found, c.Notes, err = Errors(ctx, b, a.Hidden)
		c.Rows = found
		return err
	})
	return c, err
}

// Errors reads the errors, and says what is missing.
func Errors(ctx context.Context, b *rows.Table, h rows.Hidden) (found []rows.Failure, notes []string, err error) {
	found, left, err := b.Failures(ctx, h, ListLimit*6/10, errorsMost)
	notes = []string{"Errors of the newest 100,000 tasks. Lines are compared up to 200 characters."}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("The time was over: the oldest %s of these errors are left out.", count(left)))
	}
	if len(found) >= errorsMost {
		notes = append(notes, fmt.Sprintf("Only the %d most frequent errors are shown.", errorsMost))
	}
	return found, notes, err
}
