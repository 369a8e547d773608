package main

import (
	"io"
	"os"
	"sync/atomic"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
)

// output writes the lines of the log as the configuration says. Any goroutine may write.
type output struct {
	out      io.Writer
	terminal bool
	format   atomic.Pointer[string]
}

var _ zerolog.LevelWriter = (*output)(nil)

// newOutput writes text on a terminal, otherwise one JSON object a line.
func newOutput(out io.Writer) *output {
	o := &output{out: out}
	if file, ok := out.(*os.File); ok {
		o.terminal = isTerminal(file)
	}
	o.set("")
	return o
}

// set changes the format; "" means the initial one.
func (o *output) set(format string) {
	if format == "" && o.terminal {
		format = conf.FormatText
	}
	o.format.Store(&format)
}

// Write writes a line without a level.
func (o *output) Write(line []byte) (int, error) { return o.WriteLevel(zerolog.NoLevel, line) }

// WriteLevel writes a line in the format of the log.
func (o *output) WriteLevel(level zerolog.Level, line []byte) (int, error) {
	var err error
	switch *o.format.Load() {
	case conf.FormatText:
		_, err = console(o.out, o.terminal).Write(line)
	case conf.FormatJournal:
		_, err = journal(o.out, level).Write(line)
	default:
		_, err = changed{o.out, visibleJSON}.Write(line)
	}
	return len(line), err
}

// journal writes for systemd, which adds the time, and takes the priority from the beginning of a
// line.
func journal(out io.Writer, level zerolog.Level) io.Writer {
	w := console(changed{out, func(line string) string { return priority(level) + line }}, false)
	w.PartsExclude = []string{zerolog.TimestampFieldName, zerolog.LevelFieldName}
	return w
}

// priority returns syslog's priority, as sd-daemon(3) writes it.
func priority(level zerolog.Level) string {
	switch level {
	case zerolog.FatalLevel, zerolog.PanicLevel:
		return "<2>"
	case zerolog.ErrorLevel:
		return "<3>"
	case zerolog.WarnLevel:
		return "<4>"
	case zerolog.DebugLevel, zerolog.TraceLevel:
		return "<7>"
	}
	return "<6>"
}
