package timetable

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgtaskd/moving"
)

// plan says when a chain runs.
func (p Place) plan(c Chain, j *moving.Job, notes *moving.Notes) error {
	name, interval, _ := strings.Cut(strings.TrimSpace(c.RunAt), " ")
	switch name {
	case "@reboot":
		return errors.New("a start of the server is no time: insert a task when the server starts")
	case "@every", "@after":
		if c.SelfDestruct {
			return errors.New("it runs once and deletes itself, with " + name + ": insert a task that does not repeat itself")
		}
		j.Repeat, j.Drift = strings.TrimSpace(interval), name == "@after"
		return nil
	}
	calendar, err := parse(c.RunAt)
	if err != nil {
		return err
	}
	cron, beats, err := calendar.Cron(cmp.Or(c.Zone, p.Zone), notes)
	if err != nil {
		return err
	}
	j.Cron = cron
	if c.SelfDestruct {
		j.Until = beats.Next(p.Now).Format(time.RFC3339)
		notes.Add("runs once, and deletes itself: here it is not repeated after %s, however it ends; set retry if it must succeed", j.Until)
	}
	return nil
}

// ranges are the limits of the five fields.
var ranges = [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}}

// parse reads a cron expression as pg_timetable does: all fields must match, and a number with a
// step begins a range. An empty text means every minute.
func parse(text string) (c moving.Calendar, err error) {
	if text == "" {
		return c, nil
	}
	fields := strings.Fields(text)
	if len(fields) != len(ranges) {
		return c, fmt.Errorf("%q has not five fields", moving.Cut(text))
	}
	into := [5]*[]int{&c.Minutes, &c.Hours, &c.Days, &c.Months, &c.Weekdays}
	for i, f := range fields {
		if *into[i], err = numbers(f, ranges[i][0], ranges[i][1]); err != nil {
			return c, err
		}
	}
	if i := slices.Index(c.Weekdays, 7); i >= 0 {
		c.Weekdays[i] = 0
	}
	slices.Sort(c.Weekdays)
	c.Weekdays = slices.Compact(c.Weekdays)
	return c, nil
}

// numbers returns the numbers of a field, in ascending order.
func numbers(list string, least, most int) (all []int, err error) {
	for item := range strings.SplitSeq(list, ",") {
		text, steps, stepped := strings.Cut(item, "/")
		low, high, ranged := strings.Cut(text, "-")
		first, last, step := least, most, 1
		if low != "*" {
			first, err = strconv.Atoi(low)
			if last = first; stepped {
				last = most
			}
		}
		if ranged && err == nil {
			last, err = strconv.Atoi(high)
		}
		if stepped && err == nil {
			step, err = strconv.Atoi(steps)
		}
		if err != nil || step < 1 || first < least || last > most || first > last {
			return nil, fmt.Errorf("%q is not understood", moving.Cut(item))
		}
		for n := first; n <= last; n += step {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
