package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"
	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/routine"
	"pgtaskd/web"
	"pgtaskd/work"
)

// With gcPercent the garbage collector runs when the heap has grown by a tenth. That suits a large
// heap that hardly changes: a million waiting tasks. A tenth of a small heap would be a few hundred
// tasks. So ballastSize, in bytes, counts as heap: a tenth is at least 13 MB. Nothing touches the
// ballast, so it uses no memory.
const (
	gcPercent   = 10
	ballastSize = 128 << 20
)

type runCommand struct{ served }

// Run serves until SIGTERM or SIGINT, then drains; a second signal ends it at once.
func (c *runCommand) Run(ctx context.Context, p *program) error {
	if err := c.usage(); err != nil {
		return err
	}
	defer ignorePipe()()
	log := p.logger()
	debug.SetGCPercent(gcPercent)
	ballast := make([]byte, ballastSize)
	defer runtime.KeepAlive(ballast)
	ctx, stop, release := untilSignal(ctx, log)
	defer release()
	site := web.New(log, programVersion())
	defer site.Close()
	options := conf.Options{Serve: work.Serve, Stop: stop, Watch: site}
	defer watched(&options)()
	if c.Config == "" {
		target, err := conf.Single(c.DSN)
		if err != nil {
			return err
		}
		target.Trust = c.Trust
		p.setLevel(zerolog.InfoLevel)
		started(log, "")
		if warning := conf.ExposedDSN(c.DSN); warning != "" {
			log.Warn().Msg(warning)
		}
		return conf.RunTargets(ctx, []work.Target{target}, log, options)
	}
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	options.Reload = reload
	first := true
	options.Log = func(l conf.Log) {
		p.setLog(l)
		if first {
			started(log, c.Config)
			first = false
		}
	}
	return conf.Run(ctx, c.Config, log, options)
}

func (p *program) setLevel(level zerolog.Level) {
	if p.level == "" {
		zerolog.SetGlobalLevel(level)
	}
}

// setLog applies the log settings of a configuration.
func (p *program) setLog(l conf.Log) {
	p.setLevel(l.Level)
	p.output.set(l.Format)
}

// started logs which program runs.
func started(log zerolog.Logger, config string) {
	line := log.Info().Str("version", programVersion()).Int("pid", os.Getpid())
	if config != "" {
		line = line.Str("config", config)
	}
	line.Msg("pgtaskd started")
	tell(sd.SdNotifyReady)
}

// untilSignal returns a channel that the first SIGTERM or SIGINT closes, and a context that the
// second one ends.
func untilSignal(ctx context.Context, log zerolog.Logger) (context.Context, <-chan struct{}, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	crew := routine.New(ctx)
	crew.Go(func() {
		var first time.Time
		for {
			select {
			case s := <-signals:
				switch {
				case first.IsZero():
					first = time.Now()
					log.Info().Stringer("signal", s).Msg("stopping; a second signal ends at once")
					tell(sd.SdNotifyStopping)
					close(stop)
				case time.Since(first) > echo:
					cancel(errSecondSignal)
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return crew.Context(), stop, func() {
		signal.Stop(signals)
		cancel(nil)
		crew.Wait()
	}
}

// echo is how long after the first signal another one counts as the same: some senders reach a
// process both directly and through its group.
const echo = 200 * time.Millisecond

var errSecondSignal = errors.New("ended by a second signal")

// ignorePipe keeps the program alive when the reader of its output goes away. Otherwise a write to
// a closed standard output or error would end the process. Now the write fails, and its line is
// lost.
func ignorePipe() (release func()) {
	broken := make(chan os.Signal, 1) // never read: the writer gets the error
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}

// tell reports the program's state to the service manager, if one has started it. Nothing depends
// on it.
func tell(state string) { _, _ = sd.SdNotify(false, state) }

// watched makes the supervisor report that it is alive, if the service manager wants that.
func watched(options *conf.Options) (stop func()) {
	every, err := sd.SdWatchdogEnabled(false)
	if err != nil || every <= 0 {
		return func() {}
	}
	ticker := time.NewTicker(every / 3)
	options.Tick = ticker.C
	options.Ticked = func() { tell(sd.SdNotifyWatchdog) }
	return ticker.Stop
}
