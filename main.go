package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/rs/zerolog"

	"pgtaskd/ask"
)

func main() {
	os.Exit(exitCode(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr), os.Stderr))
}

// exitCode prints an error, one line for each fault, and returns the exit status: 0 for success, 1
// for a fault, 2 for a wrong command line or for differences in a dry run, 3 for tasks that a drain
// leaves.
func exitCode(err error, stderr io.Writer) int {
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ask.ErrFailed): // the command has printed everything
		return 1
	case errors.Is(err, errDifferences):
		return 2
	case errors.As(err, &usage):
		printLine(stderr, "pgtaskd: %s", usage)
		printLine(stderr, `Try "pgtaskd --help".`)
		return 2
	case errors.Is(err, ask.ErrLeft):
		printLine(stderr, "pgtaskd: %s", err)
		return 3
	default:
		for _, err := range each(err) {
			printLine(stderr, "pgtaskd: %s", err)
		}
		return 1
	}
}

// usageError is the error of a wrong command line.
type usageError struct{ error }

// commands are the commands and flags of the command line.
type commands struct {
	LogLevel string `name:"log-level" enum:"trace,debug,info,warn,error," default:"" placeholder:"LEVEL" help:"What to log: trace, debug, info, warn or error. Overrides the configuration's log.level."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version and exit."`

	Run    runCommand    `cmd:"" help:"Serve the targets of a configuration file, or the one table of a connection string."`
	Check  checkCommand  `cmd:"" help:"Read the configuration, connect, and show what would be created and what is missing. Exits with 1 when run would fail."`
	Next   nextCommand   `cmd:"" help:"Print when a cron expression runs next."`
	Schema schemaCommand `cmd:"" help:"Print the statements that make a task table."`

	askCommands

	Demo    demoCommand    `cmd:"" help:"Show tasks at work on a throw-away server, with the page."`
	Apply   applyCommand   `cmd:"" help:"Make the jobs of a table those of files, and print what changes. Exits with 2 when --dry-run finds differences."`
	Import  importCommand  `cmd:"" help:"Move jobs here from another scheduler."`
	RunNow  runNowCommand  `cmd:"" help:"Run a job once now, beside its series; print the id of the task."`
	Version versionCommand `cmd:"" help:"Print the version."`
	Help    helpCommand    `cmd:"" help:"Print the commands and flags, or those of a command."`

	Completion kongcompletion.Completion `cmd:"" help:"Print how a shell is told to complete commands and flags: bash, zsh or fish."`
}

// program is the state that the commands share.
type program struct {
	stdout, stderr io.Writer
	level          string  // of the command line; "": not given
	output         *output // of the logger
}

// run parses a command line and runs the command until it ends. Tests call it, too.
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
		if means(err, "apply") { // for apply, status 2 means differences
			return err
		}
		return &usageError{inWords(err)}
	}
	return command.Run(&program{stdout: stdout, stderr: stderr, level: line.LogLevel})
}

// inWords says in our words what the parser says in those of a programmer.
func inWords(err error) error {
	text := err.Error()
	if match := notNumber.FindStringSubmatch(text); match != nil {
		return fmt.Errorf("%s is %s, which is no number", strings.Trim(match[1], "[]."), match[2])
	}
	if name, missing := strings.CutPrefix(text, `expected "`); missing {
		return fmt.Errorf("%s is missing", strings.TrimSuffix(name, `"`))
	}
	return errors.New(strings.ReplaceAll(strings.ReplaceAll(text, `,""`, ""), `","`, `", "`))
}

var notNumber = regexp.MustCompile(`^(.*?)(?: \.\.\.\]?)?: expected a valid \d+ bit \w+ but got (".*")$`)

// means reports whether a wrong command line names that command.
func means(err error, command string) bool {
	var parse *kong.ParseError
	return errors.As(err, &parse) && slices.ContainsFunc(parse.Context.Path, func(p *kong.Path) bool {
		return p.Command != nil && p.Command.Name == command
	})
}

// setUpLogs sets the format of all logs of the process.
var setUpLogs = sync.OnceFunc(func() {
	// zerolog's default would write to standard error that a line cannot be written.
	zerolog.ErrorHandler = func(error) {}
	zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000Z07:00"
})

// logger returns the program's log, with the level of the command line; setLog adds the settings of
// the configuration.
func (p *program) logger() zerolog.Logger {
	setUpLogs()
	p.output = newOutput(p.stderr)
	log := zerolog.New(p.output).With().Timestamp().Logger()
	if level, err := zerolog.ParseLevel(p.level); p.level != "" && err == nil {
		zerolog.SetGlobalLevel(level)
	}
	return log
}

// each splits an error that joins several, each with its own line.
func each(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	var lines []string
	for _, one := range joined.Unwrap() {
		all, lines = append(all, each(one)...), append(lines, one.Error())
	}
	if err.Error() != strings.Join(lines, "\n") { // the outer error says more
		return []error{err}
	}
	return all
}
