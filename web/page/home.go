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
func Jobs(ctx context.Context, s *rows.Sessions, chosen []Target, h rows.Hidden) (jobs []rows.Job, notes []string, err error) {
	targets, found := make([]work.Target, len(chosen)), make([][]rows.Job, len(chosen))
	for i, t := range chosen {
		targets[i] = t.Target
	}
	all, larger := make([]bool, len(chosen)), make([]bool, len(chosen))
	errs := s.Each(ctx, targets, ListLimit, func(ctx context.Context, i int, b *rows.Table) (err error) {
		if found[i], all[i], err = b.Jobs(ctx, h); err == nil {
			larger[i], err = b.Larger(ctx)
		}
		return err
	})
	jobs, failed := []rows.Job{}, 0
	for i, t := range chosen {
		if errs[i] != nil {
			failed++
			notes = append(notes, fmt.Sprintf("%s cannot be read: %v", t.Name, errs[i]))
			continue
		}
		if !all[i] {
			notes = append(notes, fmt.Sprintf("%s has more jobs: the %d with the most trouble are shown.", t.Name, rows.JobsMost))
		}
		for _, j := range found[i] {
			j.Target = t.Name
			jobs = append(jobs, j)
		}
	}
	if failed == len(chosen) && failed > 0 {
		return nil, nil, errs[0]
	}
	rows.SortJobs(jobs)
	if slices.Contains(larger, true) {
		notes = append(notes, fmt.Sprintf("Ended jobs, and earlier runs of a key, are found among the newest %d tasks of a table.", rows.NewestRows))
	}
	return jobs, notes, nil
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
