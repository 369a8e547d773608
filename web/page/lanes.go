package page

import (
	"context"
	"fmt"
	"html/template"
	"strings"
	"time"

	"pgtaskd/web/rows"
)

// lanesPage shows who ran when, and what is planned.
var lanesPage = Kind{Path: "/lanes", Name: "lanes", Title: "Lanes", Read: ofTarget(readLanes)}

const (
	groupsMost = 40   // lines of a chart
	chartMost  = 3000 // bars of a chart
)

func readLanes(ctx context.Context, a *Asked, b *rows.Table, c *Content) error {
	l, err := b.Lanes(ctx, a.Hidden)
	if err != nil {
		return err
	}
	c.Rows = l.Spans
	past := chart{from: l.Now.Add(-rows.LanesPast), to: l.Now, now: l.Now, step: time.Minute}
	plans := chart{from: l.Now, to: l.Now.Add(rows.LanesAhead), now: l.Now, step: time.Hour}
	for i := range l.Spans {
		to := &plans
		if l.Spans[i].Start.Valid {
			to = &past
		}
		to.spans = append(to.spans, &l.Spans[i])
	}
	c.View = struct{ Past, Plans template.HTML }{past.draw(a, b.Zone), plans.draw(a, b.Zone)}
	for _, note := range []struct {
		said bool
		text string
	}{
		{!l.AllRows, fmt.Sprintf("Runs are those of the newest %d tasks, and what runs now.", rows.LanesNewest)},
		{!l.AllJobs, fmt.Sprintf("There are more jobs than the %d whose plans are shown.", rows.JobsMost)},
		{!l.AllPlans, "Jobs that run often have more plans than are shown: only their next ones are."},
		{past.cut || plans.cut, fmt.Sprintf("A chart shows at most %d groups and %d bars; the JSON has all.", groupsMost, chartMost)},
	} {
		if note.said {
			c.Notes = append(c.Notes, note.text)
		}
	}
	return nil
}

// chart is a timeline with a line for each group.
type chart struct {
	from, to, now time.Time
	step          time.Duration // between lines of the grid
	spans         []*rows.Span
	cut           bool // some were left out
	drawn         map[bar]bool
}

// bar is a short bar; others at its place are not drawn again.
type bar struct {
	x, y     int // x in steps of 3 pixels
	look     string
	overlaps bool
}

// Sizes of a chart.
const (
	chartWidth = 1200
	labelWidth = 170
	lineHeight = 22
	axisHeight = 24
)

// x returns where a moment is in the chart.
func (c *chart) x(at time.Time) float64 {
	share := float64(at.Sub(c.from)) / float64(c.to.Sub(c.from))
	return labelWidth + (chartWidth-labelWidth)*min(1, max(0, share))
}

// draw returns the chart as SVG; "" if it is empty.
func (c *chart) draw(a *Asked, zone string) template.HTML {
	lines, groups := map[string]int{}, []string{}
	for _, s := range c.spans {
		if _, known := lines[s.Group]; !known {
			lines[s.Group] = len(groups)
			groups = append(groups, s.Group)
		}
	}
	if len(groups) == 0 {
		return ""
	}
	more := len(groups) - groupsMost
	groups = groups[:min(len(groups), groupsMost)]
	height := axisHeight + lineHeight*len(groups)
	if c.cut = more > 0; c.cut {
		height += lineHeight
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="group">`, chartWidth, height)
	c.axis(&b, a.location(zone), height)
	for i, group := range groups {
		fmt.Fprintf(&b, `<a href="%s"><text x="0" y="%d">%s</text></a>`, template.HTMLEscapeString(a.Link("/tasks", "target", a.Named(), "group", group)),
			axisHeight+lineHeight*i+15, template.HTMLEscapeString(shortened(text(group), 24)))
	}
	if c.cut {
		fmt.Fprintf(&b, `<text class="dim" x="0" y="%d">and %d more</text>`, height-7, more)
	}
	n := 0
	c.drawn = map[bar]bool{}
	for _, s := range c.spans {
		if lines[s.Group] >= groupsMost {
			continue
		}
		if n >= chartMost {
			c.cut = true
			break
		}
		if c.bar(&b, a, zone, s, axisHeight+lineHeight*lines[s.Group]+3) {
			n++
		}
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// axis draws the lines of the grid at round times, some with their time.
func (c *chart) axis(b *strings.Builder, zone *time.Location, height int) {
	first := c.from.In(zone)
	at := time.Date(first.Year(), first.Month(), first.Day(), first.Hour(), 0, 0, 0, zone)
	for ; !at.After(c.to); at = at.Add(c.step) {
		if at.Before(c.from) {
			continue
		}
		x := c.x(at)
		fmt.Fprintf(b, `<path class="grid" d="M%.1f %dV%d"/>`, x, axisHeight-6, height)
		if local := at.In(zone); (local.Hour()%2 == 0 || c.step < time.Hour) && x < chartWidth-30 {
			fmt.Fprintf(b, `<text class="dim" x="%.1f" y="12" text-anchor="middle">%s</text>`, x, local.Format("15:04"))
		}
	}
	fmt.Fprintf(b, `<text class="dim" x="0" y="12">%s</text>`, template.HTMLEscapeString(first.Format("2006-01-02 MST")))
	fmt.Fprintf(b, `<path class="now" d="M%.1f %dV%d"/>`, c.x(c.now), axisHeight-6, height)
}

// bar draws a run or a plan, unless one like it is there.
func (c *chart) bar(b *strings.Builder, a *Asked, zone string, s *rows.Span, y int) bool {
	begin, end, look := s.Start, c.now, class(s.State, s.Stop)
	switch {
	case !s.Start.Valid:
		begin, end, look = s.Planned, s.Planned.Time, "usual"
		if s.Usual != nil {
			end = end.Add(time.Duration(*s.Usual * float64(time.Second)))
		}
	case s.Stop.Valid:
		end = s.Stop.Time
	}
	from := c.x(begin.Time)
	width := max(2, c.x(end)-from)
	if short := (bar{int(from / 3), y, look, s.Overlaps}); width <= 3 {
		if c.drawn[short] {
			return false
		}
		c.drawn[short] = true
	}
	name := fmt.Sprint("task ", s.ID)
	if s.Key != nil {
		name = fmt.Sprint(*s.Key, ", ", name)
	}
	at := momentOf(begin, a.location(zone))
	title := fmt.Sprint(name, " ", Word(s.State, s.Stop), ", ", at.Clock, " ", at.Zone)
	if s.Start.Valid {
		title += ", " + Duration(end.Sub(begin.Time).Seconds())
	}
	if s.Usual != nil {
		title += ", usually " + Duration(*s.Usual)
	}
	if s.Overlaps {
		title += ", overlaps with another"
	}
	fmt.Fprintf(b, `<a href="%s"><rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d"/>`,
		template.HTMLEscapeString(a.Link("/task", "target", a.Named(), "id", fmt.Sprint(s.ID))), look, from, y, width, lineHeight-6)
	if s.Overlaps {
		fmt.Fprintf(b, `<rect class="overlap" x="%.1f" y="%d" width="%.1f" height="%d"/>`, from, y, width, lineHeight-6)
	}
	fmt.Fprintf(b, `<title>%s</title></a>`, template.HTMLEscapeString(text(title)))
	return true
}

// shortened cuts a text to so many characters.
func shortened(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
