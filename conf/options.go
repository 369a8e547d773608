package conf

import (
	"context"
	"os"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/work"
)

// Serve serves one target until stop is closed; then it drains the target and returns nil, or the
// error of the drain. It handles all other failures itself. If ctx ends, it returns at once.
// work.Serve has this type.
type Serve func(ctx context.Context, stop <-chan struct{}, t work.Target, log zerolog.Logger) error

// Options are all settings of serving, except the targets.
type Options struct {
	Serve  Serve            // serves one target
	Stop   <-chan struct{}  // when closed, all targets are drained
	Reload <-chan os.Signal // each signal makes Run read its file again
	Log    func(Log)        // called with the log settings of each configuration that is loaded; may be nil
	Tasks  string           // which tasks RunTargets logs; "": those that fail
	Tick   <-chan time.Time // Ticked is called at each, while the supervisor lives; may be nil
	Ticked func()           // see Tick
	Watch  Watch            // shows what is served; may be nil
}

// Watch shows people the served targets. The goroutine that called Run calls it.
type Watch interface {
	// Listen serves the page, the metrics and the health as the settings say from now on. On
	// failure the old ones stay.
	Listen(HTTP) error
	// Show replaces the targets that are shown. Each has its Stats.
	Show([]work.Target)
	// Stale says why the file could not be loaded again, so that the configuration before stays in
	// force; "": it was loaded.
	Stale(why string)
}
