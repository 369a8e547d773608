package top

import (
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"pgtaskd/human"
)

// helpText is what ? shows.
var helpText = []string{
	"1 2 3, Tab      jobs, what runs, errors",
	"j k, arrows     next and previous row (also PgUp, PgDn, Home, End)",
	"/               filter: rows with this text; Enter keeps it, Esc ends it",
	"c               cancel the task of the row",
	"p               pause it, or resume it",
	"a               again: what has ended runs once more",
	"r               run a copy now, beside the beat",
	"q               quit",
	"",
	"Each act asks first. In the list of errors it is for the example.",
	"Jobs in trouble come first: failing, late, paused. In LAST RUNS a point",
	"is a run that was DONE, another character begins its state: FAIL, GONE,",
	"STOP, WORK. The newest is on the right.",
	"Narrow windows leave out columns.",
}

// event handles a key, or a new size of the terminal.
func (w *window) event(e tcell.Event) {
	key, ok := e.(*tcell.EventKey)
	switch {
	case !ok:
		if _, resized := e.(*tcell.EventResize); resized {
			w.screen.Sync()
		}
	case key.Key() == tcell.KeyCtrlC:
		w.over = true
	case w.help:
		w.help = false
	case w.asked != nil:
		w.message = "nothing was changed"
		if key.Rune() == 'y' {
			w.act(*w.asked)
		}
		w.asked = nil
	case w.typing:
		w.typed(key)
	default:
		w.message = ""
		w.command(key)
	}
}

// typed changes the filter.
func (w *window) typed(key *tcell.EventKey) {
	switch key.Key() {
	case tcell.KeyEnter:
		w.typing = false
	case tcell.KeyEscape:
		w.typing, w.filter = false, ""
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		_, size := utf8.DecodeLastRuneInString(w.filter)
		w.filter = w.filter[:len(w.filter)-size]
	case tcell.KeyCtrlU:
		w.filter = ""
	case tcell.KeyRune:
		w.filter += human.Visible(string(key.Rune())) // as the cells are
	}
}

func (w *window) command(key *tcell.EventKey) {
	switch key.Key() {
	case tcell.KeyTab:
		w.choose((w.list + 1) % len(names))
	case tcell.KeyBacktab:
		w.choose((w.list + len(names) - 1) % len(names))
	case tcell.KeyDown:
		w.move(1)
	case tcell.KeyUp:
		w.move(-1)
	case tcell.KeyPgDn:
		w.move(w.height)
	case tcell.KeyPgUp:
		w.move(-w.height)
	case tcell.KeyHome:
		w.move(-w.at)
	case tcell.KeyEnd:
		w.move(len(w.rows()))
	case tcell.KeyEscape:
		w.filter = ""
	case tcell.KeyRune:
		w.letter(key.Rune())
	}
}

func (w *window) letter(r rune) {
	switch r {
	case 'q':
		w.over = true
	case '?':
		w.help = true
	case '/':
		w.typing = true
	case '1', '2', '3':
		w.choose(int(r - '1'))
	case 'j':
		w.move(1)
	case 'k':
		w.move(-1)
	case 'c':
		w.ask("cancel")
	case 'p':
		w.ask("pause")
	case 'a':
		w.ask("again")
	case 'r':
		w.ask("run")
	}
}

// choose shows another list.
func (w *window) choose(list int) {
	w.list, w.at, w.top = list, 0, 0
	w.next.Reset(0)
}

// move chooses another row. draw finds it again by its key.
func (w *window) move(by int) {
	if found := w.rows(); len(found) > 0 {
		w.at = min(max(w.at+by, 0), len(found)-1)
		w.chosen[w.list] = found[w.at].key
	}
}

// ask asks whether to act on the chosen row.
func (w *window) ask(do string) {
	found := w.rows()
	if len(found) == 0 {
		w.message = "there is no row"
		return
	}
	w.asked = &question{do, found[min(w.at, len(found)-1)]}
	if do == "pause" && w.asked.row.paused {
		w.asked.do = "resume"
	}
}

// rows are those that pass the filter.
func (w *window) rows() []row {
	if v := w.known[w.list]; v != nil {
		return v.table.filtered(w.filter).rows
	}
	return nil
}
