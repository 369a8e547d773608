package conf

import (
	"context"
	"os"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/work"
)

// Serve serves one target until stop is closed; then it drains the target and returns nil, or the
// error of the drain. It handles all other failures itself. When ctx ends it returns at once.
// work.Serve is one.
type Serve func(ctx context.Context, stop <-chan struct{}, t work.Target, log zerolog.Logger) error

// Options are the settings of serving, besides the targets.
type Options struct {
	Serve  Serve            // serves one target
	Stop   <-chan struct{}  // when closed, all targets are drained
	Reload <-chan os.Signal // each signal makes Run read its file again
	Log    func(Log)        // called with the log settings of each configuration that is loaded; may be nil
	Tasks  string           // which tasks RunTargets logs; "": those that fail
	Tick   <-chan time.Time // at each, Ticked is called while the supervisor is alive; may be nil
	Ticked func()           // see Tick
	Watch  Watch            // shows what is served; may be nil
}

// Watch shows people what is served. The goroutine that called Run calls it.
type Watch interface {
	// Listen serves the metrics at another address, "" at none. When it fails, it goes on where it
	// was.
	Listen(address string) error
	// Show makes these targets, with their Stats, those that are shown.
	Show([]work.Target)
}
