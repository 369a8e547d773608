package top

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gdamore/tcell/v2"

	"pgtaskd/human"
	"pgtaskd/routine"
	"pgtaskd/web/edit"
	"pgtaskd/web/page"
	"pgtaskd/web/rows"
	"pgtaskd/work"
)

// every is how long after a reading the next one begins, unless the server is slow.
const every = time.Second

// window is what is on the terminal.
type window struct {
	screen tcell.Screen
	reader *reader
	crew   *routine.Group
	views  chan view   // capacity 1: a reading that has ended
	acted  chan string // what an act has led to

	list    int
	known   [3]*view // of each list, the last one that could be read; nil: none yet
	fault   error    // why the last reading failed
	reading bool
	next    *time.Timer // of the next reading

	chosen  [3]string // key of the row that keys act on
	at, top int       // where that row is, and the first one on the screen
	height  int       // of the list
	filter  string
	typing  bool      // the filter
	asked   *question // what waits for y
	help    bool
	message string
	over    bool
}

// question is an act that waits for a yes.
type question struct {
	do  string
	row row
}

// Run shows the lists on the terminal until the user quits.
func Run(ctx context.Context, targets []work.Target) error {
	if os.Getenv("TERM") == "dumb" {
		return errors.New("this terminal (TERM=dumb) cannot move the cursor: use --once")
	}
	screen, err := tcell.NewScreen()
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return fmt.Errorf("cannot use the terminal (%w): --once needs none", err)
	}
	return show(ctx, screen, targets)
}

// show shows the lists on a screen, and ends its use.
func show(ctx context.Context, screen tcell.Screen, targets []work.Target) error {
	w := &window{
		screen: screen, reader: newReader(targets), crew: routine.New(ctx), views: make(chan view, 1), acted: make(chan string), next: time.NewTimer(0),
	}
	events := make(chan tcell.Event)
	w.crew.Go(func() { screen.ChannelEvents(events, w.crew.Context().Done()) })
	err := w.crew.Call(func() error { w.loop(events); return nil })
	screen.Fini()
	w.crew.End()
	w.crew.Wait()
	w.reader.sessions.Close()
	if p := w.crew.Panicked(); p != nil {
		return p
	}
	return err
}

// loop draws, and waits for what changes the picture.
func (w *window) loop(events <-chan tcell.Event) {
	for !w.over {
		w.draw()
		select {
		case e, open := <-events:
			if !open {
				return // the terminal has gone
			}
			w.event(e)
		case v := <-w.views:
			w.take(v)
		case w.message = <-w.acted:
			w.next.Reset(0)
		case <-w.next.C:
			w.read()
		case <-w.crew.Context().Done():
			return
		}
	}
}

// read begins to read the list, unless a reading is under way.
func (w *window) read() {
	if w.reading {
		return
	}
	w.reading = true
	list := w.list
	w.crew.Go(func() { w.views <- w.reader.read(w.crew.Context(), list) })
}

// take shows what was read. If nothing could be read, what was there stays, with its time.
func (w *window) take(v view) {
	w.reading = false
	before := w.known[v.list]
	if w.fault = v.err; v.err == nil || before == nil {
		w.known[v.list] = &v
	} else {
		before.heads = v.heads
	}
	pause := every
	if took := time.Since(v.at); took > pause {
		pause = took // so that a slow server has rest
	}
	if v.list != w.list {
		pause = 0
	}
	w.next.Reset(pause)
}

// act does what was asked.
func (w *window) act(q question) {
	w.message = q.do + " …"
	w.crew.Go(func() {
		t := w.reader.targets[q.row.target]
		err := w.reader.sessions.Change(w.crew.Context(), t.Target, page.ListLimit, func(ctx context.Context, b *rows.Table) error {
			return edit.One(ctx, b, edit.Doing{Do: q.do, By: "role " + t.Connect["user"]}, q.row.id)
		})
		text := fmt.Sprintf("%s task %d: done", q.do, q.row.id)
		if err != nil {
			text = human.Visible(err.Error())
		}
		select {
		case w.acted <- text:
		case <-w.crew.Context().Done():
		}
	})
}
