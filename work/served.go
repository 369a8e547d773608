package work

import (
	"context"

	"pgtaskd/work/install"
	"pgtaskd/work/pool"
	"pgtaskd/work/target"
)

// Target is a table of tasks with all that is needed to serve it.
type Target = target.Target

// Version is the program's, as the table of controllers shows it. It is set before any target is
// served.
var Version = "devel"

// Check finds out whether Serve could serve the target, and what it would create. It changes nothing.
func Check(ctx context.Context, t Target) install.Report {
	return install.Check(ctx, t, func(ctx context.Context, role string, version int) error {
		return pool.Try(ctx, &t, role, version)
	})
}
