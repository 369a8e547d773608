package main

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"pgtaskd/ask"
	"pgtaskd/work"
)

type actCommand struct {
	asking
	Do       string   `arg:"" enum:"cancel,pause,resume,run,again,delete" help:"What to do: cancel, pause, resume, run (a copy, now), again, delete."`
	ID       []string `arg:"" optional:"" name:"id" help:"Ids of tasks; none: all that the flags select. Last, if not in --dsn, a connection string."`
	State    []string `placeholder:"STATE" predictor:"state" help:"All tasks in this state, or these: --state fail,gone."`
	Group    string   `placeholder:"GROUP" help:"All tasks of this group."`
	Key      string   `placeholder:"KEY" help:"All tasks of this key."`
	Task     string   `placeholder:"ID" help:"The task with this id, if the other flags select it."`
	Since    string   `placeholder:"TIME" help:"All tasks planned from this moment on."`
	Until    string   `placeholder:"TIME" help:"All tasks planned before this moment."`
	SQLState string   `name:"sqlstate" placeholder:"CODE" help:"All tasks whose error has this SQLSTATE; none: those without."`
	Error    string   `placeholder:"TEXT" help:"All tasks whose error has this first line."`
	Text     string   `placeholder:"TEXT" help:"All of the newest 100,000 tasks with this text in input, data or error."`
	All      bool     `help:"All tasks."`
	Data     *string  `placeholder:"TEXT" help:"With run: data of the copies."`
}

// Run changes tasks.
func (c *actCommand) Run(ctx context.Context, p *program) error {
	ctx, stop := untilInterrupt(ctx)
	defer stop()
	ids, dsn, err := tasks(c.ID)
	if err != nil {
		return err
	}
	filter := url.Values{}
	for name, value := range map[string]string{
		"state": strings.Join(c.State, ","), "group": c.Group, "key": c.Key, "id": c.Task, "since": c.Since, "until": c.Until,
		"sqlstate": c.SQLState, "error": c.Error, "q": c.Text,
	} {
		if value != "" {
			filter.Set(name, value)
		}
	}
	switch chosen := len(filter) > 0 || c.All; {
	case chosen == (len(ids) > 0) || c.All && len(filter) > 0:
		return &usageError{errors.New("give ids of tasks, or flags that select tasks, or --all")}
	case c.Data != nil && c.Do != "run":
		return &usageError{errors.New("--data goes with run only")}
	}
	return c.ask(p, dsn, func(s *ask.Screen, targets []work.Target) error {
		return ask.Act(ctx, s, targets, c.Do, c.Data, ids, filter)
	})
}
