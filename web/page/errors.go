package page

import (
	"context"
	"fmt"

	"pgtaskd/web/rows"
)

// errorsPage shows the errors, grouped.
var errorsPage = Kind{Path: "/errors", Name: "errors", Title: "Errors", Read: ofTarget(readErrors)}

const errorsMost = 200

func readErrors(ctx context.Context, a *Asked, b *rows.Table, c *Content) (err error) {
	c.Rows, c.Notes, err = Errors(ctx, b, a.Hidden)
	return err
}

// Errors reads the errors, and says what is missing.
func Errors(ctx context.Context, b *rows.Table, h rows.Hidden) (found []rows.Failure, notes []string, err error) {
	found, left, err := b.Failures(ctx, h, ListLimit*6/10, errorsMost)
	notes = []string{"Errors of the newest 100,000 tasks. Lines are compared up to 200 characters."}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("There was no time for the oldest %s of these errors: they are left out.", Count(left)))
	}
	if len(found) >= errorsMost {
		notes = append(notes, fmt.Sprintf("Only the %d most frequent errors are shown.", errorsMost))
	}
	return found, notes, err
}
