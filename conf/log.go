package conf

import (
	"github.com/rs/zerolog"

	"pgtaskd/work"
)

// Log says which lines are logged, and how.
type Log struct {
	Level  zerolog.Level // the least important
	Format string        // FormatJSON, FormatText or FormatJournal; "": text on a terminal, else JSON
	Tasks  string        // which tasks: work.LogFailed, work.LogAll or work.LogNone
}

// How a line of the log is written.
const (
	FormatJSON    = "json"
	FormatText    = "text"
	FormatJournal = "journal" // text with the priority in front, as sd-daemon(3) has it
)

func (r *reader) log(v value) Log {
	l := Log{Level: zerolog.InfoLevel, Tasks: work.LogFailed}
	level := l.Level.String()
	r.object(v, keys{
		"level":  into(r, &level, choice("trace", "debug", "info", "warn", "error")),
		"format": into(r, &l.Format, choice(FormatJSON, FormatText, FormatJournal)),
		"tasks":  into(r, &l.Tasks, choice(work.LogFailed, work.LogAll, work.LogNone)),
	})
	l.Level, _ = zerolog.ParseLevel(level) // only names that it knows come here
	return l
}
