package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
)

// serve calls body while a controller serves the task table, with at most run tasks at once.
func (s *stand) serve(ctx context.Context, run int, body func(context.Context, *process) error) error {
	return s.serveAll(ctx, []map[string]any{s.db.target("task", run)}, body)
}

// serveAll calls body while a controller serves the targets.
func (s *stand) serveAll(ctx context.Context, targets []map[string]any, body func(context.Context, *process) error) error {
	return s.serveConfigured(ctx, map[string]any{"targets": targets}, body)
}

// serveConfigured calls body while a controller serves a configuration; it adds the missing dsn.
func (s *stand) serveConfigured(ctx context.Context, file map[string]any, body func(context.Context, *process) error) (err error) {
	config, err := os.CreateTemp("", "pgtaskd-bench-*.json")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(config.Name())) }()
	file["dsn"] = s.server.DSN("postgres")
	err = json.NewEncoder(config).Encode(file)
	if err := errors.Join(err, config.Close()); err != nil {
		return err
	}
	process, err := s.controller.start(ctx, config.Name())
	if err != nil {
		return err
	}
	return process.during(ctx, body)
}
