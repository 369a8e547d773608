package demo

import (
	"io"
	"os"
	"strings"

	"github.com/rs/zerolog"
	"golang.org/x/term"
)

// view shows people the tasks. It belongs to the goroutine that called Run.
type view interface {
	// log is where the controller is to log while the view is up.
	log(zerolog.Logger) zerolog.Logger
	open()
	// show is called with the tasks as they are, and with those that have changed since it was
	// called last.
	show(tasks, changed []task, h history)
	// ending is called once, when the demo comes to its end.
	ending()
	close(h history)
}

// heading is the line at the top of every view.
type heading struct {
	version string // of the server
	about   string
	metrics string // where they are
	command string // to be pasted into a shell
}

// invitation is a task to begin with.
const invitation = `INSERT INTO task (input) VALUES ('SELECT now()');`

// signs are the characters that the views draw with.
type signs struct {
	states        map[string]string
	more, newline string
	dot           string
}

var (
	unicodeSigns = signs{
		states: map[string]string{"PLAN": "·", "WORK": "▸", "DONE": "✓", "FAIL": "✗", "GONE": "○", "STOP": "■"},
		more:   "…", newline: " ↵ ", dot: " · ",
	}
	asciiSigns = signs{
		states: map[string]string{"PLAN": ".", "WORK": ">", "DONE": "+", "FAIL": "x", "GONE": "o", "STOP": "#"},
		more:   "~", newline: " / ", dot: ", ",
	}
)

// localeSigns are those that the terminal can show.
func localeSigns() signs {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set counts
		if value := strings.ToLower(os.Getenv(name)); value != "" {
			if strings.Contains(value, "utf-8") || strings.Contains(value, "utf8") {
				return unicodeSigns
			}
			return asciiSigns
		}
	}
	return asciiSigns
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
