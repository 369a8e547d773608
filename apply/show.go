package apply

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"pgtaskd/remote"
)

// Kind is the kind of a job's change.
type Kind string

// The kinds, as the program shows them.
const (
	New     Kind = "+"
	Changed Kind = "~"
	Pruned  Kind = "-"
	Same    Kind = "="
)

// Change is the change of one job.
type Change struct {
	Kind    Kind
	Key     string
	Columns []Diff // of a new job: those in its file
	Notes   []string
}

// Diff is a column with a new value; nil is NULL.
type Diff struct {
	Column   string
	Old, New *string
}

// Result is what Run has changed, or would change.
type Result struct {
	Changes   []Change // in the order of the files, then of the keys
	Unchanged int
	Paused    []Change // of the unchanged jobs, those that are paused
	Expired   []string // the series is over, and no task waits or runs
	Unnamed   []string // jobs of the owner in no file, which Run was not to prune
}

// Limits of shown texts.
const (
	mostShown = 60  // characters of a value
	mostWide  = 200 // of a line of a longer text
	mostLines = 20  // changed lines of a longer text
	around    = 2   // lines before and after them
)

// Lines shows a change: the job, then one line or more for each column. They may contain any text
// of a file or a table.
func (c Change) Lines() []string {
	lines := []string{fmt.Sprintf("%s %s", c.Kind, c.Key)}
	for _, note := range c.Notes {
		lines[0] += " (" + note + ")"
	}
	for _, d := range c.Columns {
		switch {
		case c.Kind == New:
			lines = append(lines, fmt.Sprintf("    %s: %s", d.Column, shown(d.Column, d.New)))
		case d.Column != "remote" && (several(d.Old) || several(d.New)) && d.Old != nil && d.New != nil:
			lines = append(lines, "    "+d.Column+":")
			for _, line := range diff(*d.Old, *d.New) {
				lines = append(lines, "      "+line)
			}
		default:
			old, now := shown(d.Column, d.Old), shown(d.Column, d.New)
			if old == now && d.Column != "remote" {
				old, now = apart(*d.Old, *d.New)
			}
			if old == now {
				now += " (what has changed is not shown)"
			}
			lines = append(lines, fmt.Sprintf("    %s: %s → %s", d.Column, old, now))
		}
	}
	return lines
}

func several(text *string) bool {
	return text != nil && strings.Contains(strings.TrimRight(*text, "\n"), "\n")
}

// shown writes a value on one line, without passwords of connection strings.
func shown(column string, value *string) string {
	switch {
	case value == nil:
		return "NULL"
	case *value == "":
		return "''"
	case column == "remote":
		return short(public(*value))
	}
	return short(*value)
}

// public returns a remote without secrets: its name, or its connection string if that can be read.
func public(text string) string {
	if !strings.ContainsAny(text, "=:/ \t\n") {
		return text
	}
	settings, err := remote.Parse(text)
	if err != nil {
		return "a connection string that cannot be read"
	}
	if shown := settings.Public(); shown != "" {
		return shown
	}
	return "a connection string of which nothing is shown"
}

func short(text string) string {
	text = strings.TrimRight(text, "\n")
	first, rest, more := strings.Cut(text, "\n")
	if more {
		return fmt.Sprintf("%s (and %d more lines)", cut(first, mostShown), strings.Count(rest, "\n")+1)
	}
	return cut(first, mostShown)
}

// apart shortens two long texts: each starts shortly before the first difference.
func apart(old, now string) (string, string) {
	a, b := []rune(old), []rune(now)
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	same = max(same-mostShown/3, 0)
	return "…" + short(string(a[same:])), "…" + short(string(b[same:]))
}

func cut(line string, most int) string {
	if utf8.RuneCountInString(line) > most {
		return string([]rune(line)[:most]) + "…"
	}
	return line
}

// diff returns the changed part of two texts, with the lines around it.
func diff(old, now string) (lines []string) {
	a, b := split(old), split(now)
	begin := 0
	for begin < min(len(a), len(b)) && a[begin] == b[begin] {
		begin++
	}
	end := 0
	for end < min(len(a), len(b))-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	show := func(sign string, from []string) {
		for i, line := range from {
			if i == mostLines {
				lines = append(lines, fmt.Sprintf("%s … and %d more lines", sign, len(from)-i))
				return
			}
			lines = append(lines, sign+" "+cut(line, mostWide))
		}
	}
	show(" ", a[max(begin-around, 0):begin])
	show("-", a[begin:len(a)-end])
	show("+", b[begin:len(b)-end])
	show(" ", a[len(a)-end:min(len(a)-end+around, len(a))])
	return lines
}

// split returns the lines of a text. It marks a last line without a newline.
func split(text string) []string {
	lines := strings.Split(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		return lines[:last]
	} else if last > 0 {
		lines[last] += " (without the end of a line)"
	}
	return lines
}
