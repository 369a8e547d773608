package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"pgtaskd/work/schedule"
)

type nextCommand struct {
	Expr string `arg:"" name:"expr" help:"The cron expression, in quotes, as in the column cron."`
	Zone string `placeholder:"ZONE" help:"Time zone, such as Europe/Berlin, unless the expression names one; this machine's by default."`
	From string `placeholder:"TIME" help:"Show runs after this time (2026-03-29T01:00:00+01:00) or after the beginning of this day (2026-03-29); now by default."`
	N    int    `short:"n" default:"5" placeholder:"N" help:"How many runs to show."`
}

// Run prints the next runs of an expression, one on each line.
func (c *nextCommand) Run(p *program) error {
	if c.N < 1 {
		return &usageError{errors.New("-n must be at least 1")}
	}
	zone := localZone()
	if c.Zone != "" {
		var err error
		if zone, err = schedule.LoadZone(c.Zone); err != nil {
			return fmt.Errorf("--zone %q %w", c.Zone, err)
		}
	}
	s, err := schedule.Parse(c.Expr, zone)
	if err != nil {
		return err
	}
	at := time.Now()
	if c.From != "" {
		if at, err = time.ParseInLocation(time.DateOnly, c.From, s.Zone()); err != nil {
			at, err = time.Parse(time.RFC3339, c.From)
		}
		if err != nil {
			return fmt.Errorf("--from %q is neither a day such as 2026-03-29 nor a time such as 2026-03-29T01:00:00+01:00", c.From)
		}
	}
	for range c.N {
		at = s.Next(at)
		if _, err := fmt.Fprintln(p.stdout, at.Format(time.RFC3339Nano)); err != nil {
			return err
		}
	}
	return nil
}

// localZone returns this machine's time zone if the tz database names it, else UTC.
func localZone() *time.Location {
	name, set := os.LookupEnv("TZ")
	if !set {
		file, _ := os.Readlink("/etc/localtime")
		_, name, _ = strings.Cut(file, "zoneinfo/")
	}
	zone, err := schedule.LoadZone(strings.TrimPrefix(name, ":"))
	if err != nil {
		return time.UTC
	}
	return zone
}
