package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server"
	"pgtaskd/server/proxy"
)

// away is the remote of the modes servers and failover: another server, and in failover its
// synchronous standby.
type away struct {
	nodes   []*server.Server // the primary, then the standby
	proxies []*proxy.Proxy   // one before each
	absent  bool             // the standby is down
}

// openAway starts the servers, and makes the objects that tasks need there.
func openAway(ctx context.Context, standby bool) (a *away, err error) {
	a = &away{}
	all := maps.Clone(settings)
	if standby {
		all["synchronous_standby_names"] = "*"
	}
	primary, err := server.Start(ctx, server.Options{Settings: all})
	if err != nil {
		return a, err
	}
	a.nodes = append(a.nodes, primary)
	if standby {
		second, err := primary.Standby(ctx)
		if err != nil {
			return a, err
		}
		a.nodes = append(a.nodes, second)
	}
	for _, node := range a.nodes {
		p, err := proxy.Start(node.Socket())
		if err != nil {
			return a, err
		}
		a.proxies = append(a.proxies, p)
	}
	admin, err := pgx.Connect(ctx, primary.DSN("postgres"))
	if err != nil {
		return a, err
	}
	_, err = admin.Exec(ctx, "CREATE DATABASE "+database)
	if err := errors.Join(err, admin.Close(ctx)); err != nil {
		return a, err
	}
	return a, a.do(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, text("effect.sql"))
		return err
	})
}

func (a *away) close() (errs []error) {
	for _, p := range a.proxies {
		p.Stop()
	}
	for _, node := range a.nodes {
		errs = append(errs, node.Stop())
	}
	return errs
}

// ways returns three connection strings of the primary, whichever server that is: through the
// proxies, by sockets and by TCP.
func (a *away) ways() (dsns []string, err error) {
	var ways [3][]string
	for i, node := range a.nodes {
		for j, dsn := range []string{a.proxies[i].DSN(node.DSN(database)), node.DSN(database), node.TCP(database)} {
			ways[j] = append(ways[j], dsn)
		}
	}
	for _, way := range ways {
		var hosts, ports []string
		last := ""
		for _, dsn := range way {
			cfg, err := pgconn.ParseConfig(dsn)
			if err != nil {
				return nil, err
			}
			hosts, ports, last = append(hosts, cfg.Host), append(ports, fmt.Sprint(cfg.Port)), dsn
		}
		dsns = append(dsns, fmt.Sprintf("%s host=%s port=%s target_session_attrs=read-write", last, strings.Join(hosts, ","), strings.Join(ports, ",")))
	}
	return dsns, nil
}

// do calls body with a connection to the primary. It tries again while that recovers from a crash.
func (a *away) do(ctx context.Context, body func(*pgx.Conn) error) error {
	for began := time.Now(); ; {
		conn, err := pgx.Connect(ctx, a.nodes[0].DSN(database))
		if err == nil {
			err = errors.Join(body(conn), conn.Close(context.WithoutCancel(ctx)))
		}
		if err == nil || ctx.Err() != nil || time.Since(began) > patience {
			return err
		}
		time.Sleep(tick)
	}
}

// killBackend kills one of the tasks' backends. The server ends all others, and recovers.
func (a *away) killBackend(ctx context.Context, draw float64) error {
	return a.do(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, text("backends.sql"))
		if err != nil {
			return err
		}
		pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
		if err != nil || len(pids) == 0 {
			return err
		}
		_ = syscall.Kill(pids[int(draw*float64(len(pids)))], syscall.SIGKILL) // it may have ended
		return nil
	})
}

// restart ends the primary in a way, and starts it again.
func (a *away) restart(ctx context.Context, end func(*server.Server) error) error {
	if err := end(a.nodes[0]); err != nil {
		return err
	}
	return a.nodes[0].Restart(ctx)
}

// leave ends the standby, so that commits on the primary wait until it comes back.
func (a *away) leave() error {
	if a.absent {
		return nil
	}
	a.absent = true
	return a.nodes[1].Crash()
}

// comeBack starts the standby if it is down.
func (a *away) comeBack(ctx context.Context) error {
	if !a.absent {
		return nil
	}
	a.absent = false
	return a.nodes[1].Restart(ctx)
}

// failOver ends the primary for good, promotes the standby, and makes a new one. It records the tasks
// whose rows are prepared: nobody can know any more how those end that have been committed.
func (s *stand) failOver(ctx context.Context) error {
	a := s.away
	old, next := a.nodes[0], a.nodes[1]
	if err := old.Crash(); err != nil {
		return err
	}
	if err := s.do(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, text("in_flight.sql"))
		return err
	}); err != nil {
		return err
	}
	if err := errors.Join(a.comeBack(ctx), next.Promote(ctx)); err != nil {
		return err
	}
	a.nodes = []*server.Server{next, old}
	return old.Follow(ctx, next)
}

// bringEffects copies the effects of the remote to where the checks look for them.
func (s *stand) bringEffects(ctx context.Context) error {
	var effects bytes.Buffer
	if err := s.away.do(ctx, func(conn *pgx.Conn) error {
		effects.Reset()
		_, err := conn.PgConn().CopyTo(ctx, &effects, "COPY effect TO STDOUT")
		return err
	}); err != nil {
		return err
	}
	return s.do(ctx, func(conn *pgx.Conn) error {
		_, err := conn.PgConn().CopyFrom(ctx, &effects, "COPY effect FROM STDIN")
		return err
	})
}
