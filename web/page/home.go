package page

import (
	"context"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"pgtaskd/web/rows"
	"pgtaskd/work"
)

// homePage shows the jobs of all targets, trouble first.
var homePage = Kind{Path: "/", Name: "home", Title: "Jobs", Read: readHome}

func readHome(ctx context.Context, s *rows.Sessions, a *Asked) (*Content, error) {
	chosen, err := a.Chosen()
	if err != nil {
		return nil, err
	}
	jobs, notes, err := Jobs(ctx, s, chosen, a.Hidden)
	if err != nil {
		return nil, err
	}
	c := &Content{Rows: jobs, View: jobs[:min(len(jobs), rows.JobsMost)], Notes: notes}
	if len(jobs) > rows.JobsMost {
		c.Notes = append(c.Notes, fmt.Sprintf("The %d jobs with the most trouble of %d are shown: choose a target to see its own; the JSON has all.", rows.JobsMost, len(jobs)))
	}
	return c, nil
}

// Jobs reads the jobs of targets, trouble first, and says what is missing. It fails if it can read
// no target.
func Jobs(ctx context.Context, s *rows.Sessions, chosen []Target, h rows.Hidden) ([]rows.Job, []string, error) {
	found, notes, err := Each(ctx, s, chosen, h, jobsOf)
	jobs := make([]rows.Job, len(found))
	for i, f := range found {
		jobs[i] = f.Row
		jobs[i].Target = chosen[f.Target].Name
	}
	rows.SortJobs(jobs)
	return jobs, notes, err
}

func jobsOf(ctx context.Context, b *rows.Table, h rows.Hidden) (jobs []rows.Job, notes []string, err error) {
	jobs, all, whole, err := b.Jobs(ctx, h)
	if err != nil {
		return nil, nil, err
	}
	if !all {
		notes = append(notes, fmt.Sprintf("%s has more jobs: the %d with the most trouble are shown.", b.Target.Name(), rows.JobsMost))
	}
	if !whole {
		notes = append(notes, fmt.Sprintf("Ended jobs, and earlier runs of a key, are found among the newest %d tasks of a table.", rows.NewestRows))
	}
	return jobs, notes, nil
}

// Found is a row of one of several targets.
type Found[T any] struct {
	Target int // its index
	Row    T
}

// Each reads rows of targets, in their order, and says what is missing. It fails if it can read no
// target.
func Each[T any](ctx context.Context, s *rows.Sessions, of []Target, h rows.Hidden, read func(context.Context, *rows.Table, rows.Hidden) ([]T, []string, error)) (found []Found[T], notes []string, err error) {
	targets, lists, missing := make([]work.Target, len(of)), make([][]T, len(of)), make([][]string, len(of))
	for i, t := range of {
		targets[i] = t.Target
	}
	errs := s.Each(ctx, targets, ListLimit, func(ctx context.Context, i int, b *rows.Table) (err error) {
		lists[i], missing[i], err = read(ctx, b, h)
		return err
	})
	for i, err := range errs {
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s cannot be read: %v", of[i].Name, err))
			continue
		}
		for _, row := range lists[i] {
			found = append(found, Found[T]{i, row})
		}
		for _, note := range missing[i] {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	if len(errs) > 0 && !slices.Contains(errs, nil) {
		return nil, nil, errs[0]
	}
	return found, notes, nil
}

// Size of the bars.
const (
	barWidth  = 6
	barHeight = 24
)

// Bars draws the runs of a job: a bar for each, as high as it took long.
func (s *Sheet) Bars(j rows.Job) template.HTML {
	longest := time.Millisecond
	for _, r := range j.Runs {
		longest = max(longest, r.Took())
	}
	zone := s.zone()
	if j.Zone != nil {
		zone = *j.Zone
	}
	var b strings.Builder
	width := barWidth * rows.RunsMost
	fmt.Fprintf(&b, `<svg class="bars" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="group" aria-label="the last runs">`, width, barHeight)
	for i, r := range j.Runs {
		height := max(3, int(float64(barHeight)*float64(r.Took())/float64(longest)))
		if r.State == "WORK" {
			height = barHeight
		}
		fmt.Fprintf(&b, `<a href="%s"><rect class="%s" x="%d" y="%d" width="%d" height="%d"><title>%s</title></rect></a>`,
			template.HTMLEscapeString(s.Asked.Link("/task", "target", j.Target, "id", fmt.Sprint(r.ID))), class(r.State, r.Stop),
			width-barWidth*(len(j.Runs)-i), barHeight-height, barWidth-1, height, template.HTMLEscapeString(s.runTitle(r, zone)))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// runTitle says in a line what a bar shows.
func (s *Sheet) runTitle(r rows.Run, zone string) string {
	title := fmt.Sprint(r.ID, " ", Word(r.State, r.Stop))
	at := r.Start
	if !at.Valid {
		at = r.Stop
	}
	if at.Valid {
		m := momentOf(at, s.Asked.location(zone))
		title += ", " + m.Clock + " " + m.Zone
	}
	if r.Start.Valid && r.Stop.Valid {
		title += ", " + Duration(r.Took().Seconds())
	}
	return text(title)
}
