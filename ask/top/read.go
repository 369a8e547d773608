package top

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"pgtaskd/human"
	"pgtaskd/web/page"
	"pgtaskd/web/rows"
	"pgtaskd/work"
	"pgtaskd/work/target"
)

// names are the lists, in their order.
var names = []string{"Jobs", "Running", "Errors"}

// reader reads what is shown. Any goroutine may use it.
type reader struct {
	sessions *rows.Sessions
	targets  []page.Target
}

func newReader(targets []work.Target) *reader {
	for i := range targets {
		if targets[i].Stats == nil {
			targets[i].Stats = target.NewStats() // nobody serves here
		}
	}
	return &reader{rows.New(), page.Named(targets)}
}

// view is one list at one moment.
type view struct {
	list  int
	heads []rows.Head
	table table
	err   error // why nothing could be read; nil: something was
	at    time.Time
}

// read reads a list and the heads.
func (r *reader) read(ctx context.Context, list int) view {
	v := view{list: list, at: time.Now()}
	v.heads = page.Heads(ctx, r.sessions, r.targets)
	switch list {
	case 0:
		v.table, v.err = r.jobs(ctx)
	case 1:
		v.table, v.err = r.running(ctx, v.heads)
	default:
		v.table, v.err = r.failures(ctx, v.heads)
	}
	var notes []string
	for _, note := range v.table.notes {
		if !slices.ContainsFunc(v.heads, func(h rows.Head) bool { return h.Unread != "" && strings.HasPrefix(note, h.Target+" cannot be read: ") }) {
			notes = append(notes, human.Visible(note)) // else the head says so
		}
	}
	v.table.notes = notes
	return v
}

// name is the name of a target beside a row; "": it is the only one.
func (r *reader) name(target int) string {
	if len(r.targets) == 1 {
		return ""
	}
	return r.targets[target].Name
}

// headLine is a line about a target, or some.
type headLine struct {
	text  string
	style tcell.Style
}

// heads writes a line for each target that everybody must see, and for each of a few.
func heads(all []rows.Head) (lines []headLine) {
	quiet := 0
	for _, h := range all {
		style := calm
		switch {
		case h.Leader == "" || h.Unread != "":
			style = bad
		case !page.Calm(h):
			style = late
		case len(all) > page.HeadsMost:
			quiet++
			continue
		}
		lines = append(lines, headLine{human.Visible(head(h)), style})
	}
	if quiet > 0 {
		lines = append(lines, headLine{fmt.Sprintf("%d more targets are led, and nothing is paused in them", quiet), calm})
	}
	return lines
}

func head(h rows.Head) string {
	var all []string
	switch {
	case h.Unread != "":
		all = append(all, "CANNOT BE READ: "+h.Unread)
	case h.Leader != "":
		led := "led by " + h.Leader
		if h.Since.Valid {
			led += " since " + page.Clock(h.Since, h.Zone)
		}
		all = append(all, led)
	case h.At.Valid:
		all = append(all, "NOBODY LEADS")
	default:
		all = append(all, "nobody knows who leads")
	}
	if h.LastFault != "" {
		all = append(all, "last fault, at "+page.Clock(h.FaultAt, h.Zone)+": "+h.LastFault)
	}
	for _, p := range h.Paused {
		text := "PAUSED: " + p.Group
		if p.Group == "%" {
			text = "PAUSED: all groups"
		}
		if p.Until.Valid {
			text += " until " + page.Clock(p.Until, h.Zone)
		}
		if p.By != nil {
			text += " by " + *p.By
		}
		if p.Note != nil {
			text += ": " + *p.Note
		}
		all = append(all, text)
	}
	if h.MorePaused {
		all = append(all, "more groups are paused")
	}
	if h.PausedJobs > 0 {
		all = append(all, "paused jobs: "+page.Count(h.PausedJobs))
	}
	return h.Target + "  " + strings.Join(all, "; ")
}
