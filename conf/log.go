package conf

import (
	"github.com/rs/zerolog"

	"pgtaskd/work/target"
)

// Log says which lines are logged, and how.
type Log struct {
	Level  zerolog.Level // the least important
	Format string        // FormatJSON, FormatText or FormatJournal; "": text on a terminal, else JSON
	Tasks  string        // which tasks: target.LogFailed, target.LogAll or target.LogNone
}

// How a line of the log is written.
const (
	FormatJSON    = "json"
	FormatText    = "text"
	FormatJournal = "journal" // text with the priority in front, as sd-daemon(3) has it
)

func (r *reader) log(into *Log) func(value) {
	return func(v value) {
		name := into.Level.String()
		r.object(v, keys{
			"level":  r.choice(&name, "trace", "debug", "info", "warn", "error"),
			"format": r.choice(&into.Format, FormatJSON, FormatText, FormatJournal),
			"tasks":  r.choice(&into.Tasks, target.LogFailed, target.LogAll, target.LogNone),
		})
		into.Level, _ = zerolog.ParseLevel(name) // only names that it knows come here
	}
}
