package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server"
	"pgtaskd/server/proxy"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

//go:embed sql/*.sql
var files embed.FS

// text returns an embedded statement.
func text(name string) string {
	content, err := files.ReadFile("sql/" + name)
	if err != nil {
		panic(err) // the name is a wrong constant
	}
	return string(content)
}

const database = "chaos"

var settings = map[string]string{
	"max_connections": "200",
	"log_line_prefix": "%m [%p] %a ",
}

// stand has the parts that chaos breaks: a server, a proxy before it, and two controllers. One
// controller connects through the proxy, the other directly; at each start a controller takes the
// other way. The goroutine of run owns all of it.
type stand struct {
	options
	folder      string // for the program, its configurations and logs
	server      *server.Server
	proxy       *proxy.Proxy
	controllers [2]*controller
	repairs     repairs
	away        *away    // nil: the remotes of the mode, if any, are on the same server
	remotes     []string // of the tasks; a lane has one of them
}

func openStand(ctx context.Context, o options) (s *stand, err error) {
	s = &stand{options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.folder, err = os.MkdirTemp("", "pgtaskd-chaos-"); err != nil {
		return s, err
	}
	if err := s.build(ctx); err != nil {
		return s, err
	}
	all := maps.Clone(settings)
	if o.mode == async {
		all["synchronous_commit"] = "off"
	}
	if s.server, err = server.Start(ctx, server.Options{Settings: all}); err != nil {
		return s, err
	}
	if s.proxy, err = proxy.Start(s.server.Socket()); err != nil {
		return s, err
	}
	if err := s.openRemotes(ctx); err != nil {
		return s, err
	}
	if err := s.furnish(ctx); err != nil {
		return s, err
	}
	return s, s.startControllers()
}

func (s *stand) build(ctx context.Context) error {
	if s.program != "" {
		return nil
	}
	s.program = filepath.Join(s.folder, "pgtaskd")
	build := exec.CommandContext(ctx, "go", "build", "-o", s.program, "pgtaskd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// furnish makes the database, the task table, the other objects that the checks need, and the first
// task of each chain.
func (s *stand) furnish(ctx context.Context) error {
	admin, err := pgx.Connect(ctx, s.server.DSN("postgres"))
	if err != nil {
		return err
	}
	_, err = admin.Exec(ctx, "CREATE DATABASE "+database)
	if err := errors.Join(err, admin.Close(ctx)); err != nil {
		return err
	}
	return s.do(ctx, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "SET synchronous_commit = on"); err != nil { // the first crash may come before all this is on disk
			return err
		}
		if _, err := schema.Install(ctx, conn, sql.Table{Schema: "public", Name: "task"}, schema.Options{}); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, text("effect.sql")+text("setup.sql")); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, text("chains.sql"), s.remotes)
		return err
	})
}

// openRemotes makes the remotes of the tasks.
func (s *stand) openRemotes(ctx context.Context) (err error) {
	switch s.mode {
	case remote:
		s.remotes = []string{"dbname=" + database}
	case servers, failover:
		if s.away, err = openAway(ctx, s.mode == failover); err == nil {
			s.remotes, err = s.away.ways()
		}
	}
	return err
}

// startControllers writes both configurations, which differ in the way to the server, and starts a
// controller with each.
func (s *stand) startControllers() error {
	direct := s.server.DSN("postgres")
	var ways [2]string
	for i, dsn := range []string{s.proxy.DSN(direct), direct} {
		ways[i] = filepath.Join(s.folder, fmt.Sprintf("way%d.json", i))
		content, err := json.Marshal(map[string]any{
			"dsn":     dsn,
			"targets": []any{map[string]any{"data": database, "user": "postgres", "grace": "5 s"}},
		})
		if err != nil {
			return err
		}
		if err := os.WriteFile(ways[i], content, 0o600); err != nil {
			return err
		}
	}
	for i := range s.controllers {
		log, err := os.Create(filepath.Join(s.folder, fmt.Sprintf("controller%d.log", i)))
		if err != nil {
			return err
		}
		s.controllers[i] = &controller{program: s.program, ways: ways, starts: i, log: log}
		if err := s.controllers[i].start(); err != nil {
			return err
		}
	}
	return nil
}

// do calls body with a direct connection to the server.
func (s *stand) do(ctx context.Context, body func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, s.server.DSN(database))
	if err != nil {
		return err
	}
	return errors.Join(body(conn), conn.Close(context.WithoutCancel(ctx)))
}

// patience bounds steps that take no time unless something hangs.
const patience = 30 * time.Second

func (s *stand) close() error {
	var errs []error
	for _, c := range s.controllers {
		if c != nil {
			c.kill()
			errs = append(errs, c.log.Close())
		}
	}
	if s.proxy != nil {
		s.proxy.Stop()
	}
	if s.server != nil {
		errs = append(errs, s.server.Stop())
	}
	if s.away != nil {
		errs = append(errs, s.away.close()...)
	}
	if s.folder != "" {
		errs = append(errs, os.RemoveAll(s.folder))
	}
	return errors.Join(errs...)
}

// leader returns the running controller that became leader last, or else the first controller.
func (s *stand) leader() *controller {
	a, b := s.controllers[0], s.controllers[1]
	if b.runs() && (!a.runs() || b.process.led.Load() > a.process.led.Load()) {
		return b
	}
	return a
}

// standby returns the other controller.
func (s *stand) standby() *controller {
	if s.leader() == s.controllers[0] {
		return s.controllers[1]
	}
	return s.controllers[0]
}

// tend starts controllers that have ended, as a service manager does.
func (s *stand) tend(ctx context.Context, r *report) error {
	for _, c := range s.controllers {
		if c.runs() || time.Now().Before(c.away) {
			continue
		}
		c.account(r)
		if err := c.start(); err != nil {
			return err
		}
	}
	return ctx.Err()
}
