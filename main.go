package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	sd "github.com/coreos/go-systemd/v22/daemon"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/remote"
	"pgtaskd/routine"
	"pgtaskd/web"
	"pgtaskd/work"
)

func main() {
	os.Exit(exitCode(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr), os.Stderr))
}

// exitCode prints an error as one line a fault, and turns it into the exit status: 0 when all is well, 1 for a fault, 2 for
// a command line that cannot be understood.
func exitCode(err error, stderr io.Writer) int {
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errReported):
		return 1
	case errors.Is(err, errDifferences):
		return 2
	case errors.As(err, &usage):
		printLine(stderr, "pgtaskd: %s", usage)
		printLine(stderr, `Try "pgtaskd --help".`)
		return 2
	default:
		for _, err := range each(err) {
			printLine(stderr, "pgtaskd: %s", err)
		}
		return 1
	}
}

// errReported is returned when all there is to say has been printed.
var errReported = errors.New("failed")

// usageError is a command line that cannot be understood.
type usageError struct{ error }

// commands are the command line.
type commands struct {
	LogLevel string `name:"log-level" enum:"trace,debug,info,warn,error," default:"" placeholder:"LEVEL" help:"What to log: trace, debug, info, warn or error. Overrides the configuration's log.level."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version and exit."`

	Run     runCommand     `cmd:"" help:"Serve the targets of a configuration file, or the one table of a connection string."`
	Check   checkCommand   `cmd:"" help:"Read the configuration, connect, and show what would be created and what is missing. Exits with 1 when run would fail."`
	Next    nextCommand    `cmd:"" help:"Print when a cron expression runs next."`
	Schema  schemaCommand  `cmd:"" help:"Print the statements that make a task table."`
	Status  statusCommand  `cmd:"" help:"Show who leads each target, what is due and what failed. Exits with 1 where nobody leads or the server does not answer."`
	Ls      lsCommand      `cmd:"" help:"List tasks, newest first."`
	Show    showCommand    `cmd:"" help:"Show all of a task, and why it waits."`
	Stop    stopCommand    `cmd:"" help:"Stop tasks: pause what waits, cancel what runs."`
	Again   againCommand   `cmd:"" help:"Run ended tasks again."`
	Pause   pauseCommand   `cmd:"" help:"Let no task of a group start, until it is resumed."`
	Resume  resumeCommand  `cmd:"" help:"Let tasks of a paused group start again."`
	Tail    tailCommand    `cmd:"" help:"Show what starts and ends, until ^C."`
	Drain   drainCommand   `cmd:"" help:"Run what is due, and exit: with 1 if anything failed."`
	Demo    demoCommand    `cmd:"" help:"Show tasks at work on a throw-away server."`
	Apply   applyCommand   `cmd:"" help:"Make the jobs of a table those of files, and print what changes. Exits with 2 when --dry-run finds differences."`
	Import  importCommand  `cmd:"" help:"Move jobs here from another scheduler."`
	RunNow  runNowCommand  `cmd:"" help:"Run a job once now, beside its series; print the id of the task."`
	Version versionCommand `cmd:"" help:"Print the version."`
	Help    helpCommand    `cmd:"" help:"Print the commands and flags, or those of a command."`

	Completion kongcompletion.Completion `cmd:"" help:"Print how a shell is told to complete commands and flags: bash, zsh or fish."`
}

// program is what the commands share.
type program struct {
	stdout, stderr io.Writer
	level          string  // "" when the command line says nothing
	output         *output // of the logger
}

// run parses the command line and runs the command until it ends. Tests call it too.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var line commands
	exited := false
	parser, err := kong.New(&line,
		kong.Name("pgtaskd"),
		kong.Description("pgtaskd runs SQL tasks from tables in PostgreSQL."),
		kong.Vars{"version": versionLine()},
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { exited = true }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.UsageOnError(),
	)
	if err != nil {
		return err
	}
	if completes(parser) {
		return nil
	}
	command, err := parser.Parse(args)
	if exited { // --help, --version
		return nil
	}
	if err != nil {
		if means(err, "apply") { // whose status 2 says that there are differences
			return err
		}
		return &usageError{err}
	}
	return command.Run(&program{stdout: stdout, stderr: stderr, level: line.LogLevel})
}

// means tells whether a command line that cannot be understood names that command.
func means(err error, command string) bool {
	var parse *kong.ParseError
	return errors.As(err, &parse) && slices.ContainsFunc(parse.Context.Path, func(p *kong.Path) bool {
		return p.Command != nil && p.Command.Name == command
	})
}

// setUpLogs sets what all logs of the process have alike.
var setUpLogs = sync.OnceFunc(func() {
	zerolog.ErrorHandler = func(error) {} // a log that can't be written is lost; its own default writes to standard error, too
	zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000Z07:00"
})

// logger is the program's log, as the command line says; setLog makes it what the configuration says.
func (p *program) logger() zerolog.Logger {
	setUpLogs()
	p.output = newOutput(p.stderr)
	log := zerolog.New(p.output).With().Timestamp().Logger()
	if level, err := zerolog.ParseLevel(p.level); p.level != "" && err == nil {
		zerolog.SetGlobalLevel(level)
	}
	return log
}

type runCommand struct {
	Config string `placeholder:"FILE" predictor:"file" help:"JSON configuration: an array of targets, or an object with dsn, targets, remotes, log and http." xor:"what"`
	DSN    string `arg:"" optional:"" help:"Connection string of the one database whose table public.task is served; PG* variables apply." xor:"what"`
}

// Run serves until SIGTERM or SIGINT, then drains; a second signal ends at once.
func (c *runCommand) Run(ctx context.Context, p *program) error {
	if c.Config == "" && c.DSN == "" && !remote.Placed() {
		return &usageError{errors.New("run needs --config FILE, a connection string, or PGHOST, PGDATABASE or PGSERVICE in the environment")}
	}
	if c.Config != "" && c.DSN != "" {
		return &usageError{errors.New("run takes --config FILE or a connection string, not both")}
	}
	defer ignorePipe()()
	log := p.logger()
	debug.SetGCPercent(gcPercent)
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(ballastSize + memoryAim)
	}
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
	return named(c.Config, conf.Run(ctx, c.Config, log, options))
}

// The garbage collector waits for a tenth of what lives, and so for little more where a million waiting tasks are a large heap that hardly changes than where there are none.
// ballastSize, in bytes, counts as living, so that this is 13 MB, and not a few hundred tasks. It is never touched, so it takes no memory.
//
// Above memoryAim, which the longest outputs of 32 tasks reach, it collects more often; GOMEMLIMIT says otherwise.
const (
	gcPercent   = 10
	ballastSize = 128 << 20
	memoryAim   = 330 << 20
)

func (p *program) setLevel(level zerolog.Level) {
	if p.level == "" {
		zerolog.SetGlobalLevel(level)
	}
}

// setLog makes the log what a configuration says.
func (p *program) setLog(l conf.Log) {
	p.setLevel(l.Level)
	p.output.set(l.Format)
}

// started says which program runs.
func started(log zerolog.Logger, config string) {
	line := log.Info().Str("version", programVersion()).Int("pid", os.Getpid())
	if config != "" {
		line = line.Str("config", config)
	}
	line.Msg("pgtaskd started")
	tell(sd.SdNotifyReady)
}

// untilSignal returns a channel that the first SIGTERM or SIGINT closes, and a context that the second one ends.
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

// echo is how soon after the first a signal counts as the same one: some senders reach a process both by itself and by its group.
const echo = 200 * time.Millisecond

var errSecondSignal = errors.New("ended by a second signal")

// named puts the name of the file before each fault in it.
func named(path string, err error) error {
	var faults conf.Faults
	if !errors.As(err, &faults) {
		return err
	}
	lines := make([]error, len(faults))
	for i, fault := range faults {
		lines[i] = fmt.Errorf("%s: %w", path, fault)
	}
	return errors.Join(lines...)
}

// each takes apart what errors.Join has made.
func each(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
