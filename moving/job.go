package moving

import (
	"fmt"
	"strings"
)

// Job is a job as a task table has it. The texts are PostgreSQL's; an empty one says nothing.
type Job struct {
	Key     string
	Cron    string // or Repeat
	Repeat  string
	Drift   bool
	Timeout string
	Plan    string // Paused: it waits until somebody plans it
	Until   string
	Remote  string
	OnFail  string
	Input   string
}

// Paused is the plan of a job that does not run by itself.
const Paused = "infinity"

// Notes list all that is not carried over, or not as it was.
type Notes struct {
	Job string // whom the next ones are about, as its scheduler shows it
	All []string
}

// Add notes something of the job.
func (n *Notes) Add(format string, args ...any) {
	n.All = append(n.All, n.Job+": "+fmt.Sprintf(format, args...))
}

// Leave notes why the whole job is left out.
func (n *Notes) Leave(format string, args ...any) { n.Add("left out: "+format, args...) }

// Cut is a text in a note.
func Cut(text string) string {
	const longest = 100
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest-3], "") + "..."
	}
	return text
}

// Keys gives out the keys of jobs, none twice.
type Keys map[string]bool

// Key is the name, or another that begins with it if a job has that already.
func (k Keys) Key(name, otherwise string) string {
	const longest = 1000 // of the 1024 bytes that a table takes
	if len(name) > longest {
		name = strings.ToValidUTF8(name[:longest-len(otherwise)%longest], "")
	}
	if name == "" {
		name = otherwise
	}
	key := name
	for n := 1; k[key]; n++ {
		if key = name + " (" + otherwise + ")"; n > 1 {
			key = fmt.Sprintf("%s (%s, %d)", name, otherwise, n)
		}
	}
	k[key] = true
	return key
}
