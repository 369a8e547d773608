package moving

import (
	"fmt"
	"slices"
	"strings"
)

// Job is a job for a task table. Its texts are PostgreSQL's; "" sets nothing.
type Job struct {
	From    int64 // its id in the other scheduler
	Key     string
	Group   string // "": its key
	Active  string
	Cron    string // or Repeat
	Repeat  string
	Drift   bool
	Timeout string
	Plan    string // Paused: it waits until somebody sets its plan
	Until   string
	Remote  string
	OnFail  string
	Input   string
}

// Paused is the plan of a job that does not start by itself.
const Paused = "infinity"

// Parked says in notes how to resume that job.
const Parked = "it is parked (plan infinity) until UPDATE task SET plan = DEFAULT WHERE key = '…' lets it wait for its next run"

// Running returns the ids, in the other scheduler, of the jobs that run here and there.
func Running(jobs []Job) (ids []string) {
	for _, job := range jobs {
		if job.Plan != Paused {
			ids = append(ids, fmt.Sprint(job.From))
		}
	}
	return slices.Compact(ids) // the jobs of one follow on each other
}

// Lacks is the note of a job that waits as it lacks some of its parts, with their number and the
// scheduler's word for one.
const Lacks = "lacks %d of its %ss: put something in their place; " + Parked

// Notes list everything that is not carried over, or that changes.
type Notes struct {
	Job string // the job of the next notes, as its scheduler shows it
	All []string
}

// Add adds a note about the job.
func (n *Notes) Add(format string, args ...any) {
	n.All = append(n.All, n.Job+": "+fmt.Sprintf(format, args...))
}

// Leave notes why a whole job is left out.
func (n *Notes) Leave(format string, args ...any) { n.Add("left out: "+format, args...) }

// Cut shortens a text for a note.
func Cut(text string) string {
	const longest = 100
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest-3], "") + "..."
	}
	return text
}

// Keys records the keys of jobs, so that none is used twice.
type Keys map[string]bool

// Key returns the name; if it is used already, a longer key that begins with the name.
func (k Keys) Key(name, otherwise string) string {
	const longest = 1000 // a table accepts 1024 bytes
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
