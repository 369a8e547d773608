package wake

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/human"
	"pgtaskd/sql"
)

// earTick is the time after which the ear speaks, so that neither side takes the other for dead.
const earTick = 4 * time.Second

// ear is the line on which notifications come where the encoding of the database has bytes that
// UTF-8 lacks. The server ends a session to which it cannot tell a payload, and anybody who may
// connect can send one: so none comes on the control connection, and this one takes bytes as they
// are.
type ear struct {
	line
	channels []string
	control  uint32 // pid of the control connection

	notices Notices // not told yet
	poked   bool    // since they were told last
}

// Plain tells whether each text of the database of a connection can be told in UTF-8: then the
// control connection listens.
func Plain(conn *pgconn.PgConn) bool {
	encoding := conn.ParameterStatus("server_encoding")
	return encoding == "UTF8" || encoding == "LATIN1"
}

func (e *ear) run(ctx context.Context) {
	e.line.run(ctx, e.follow, func(err error) {
		e.Log.Warn().Err(err).Str("sleep", human.Duration(e.Sleep)).Msg("cannot listen for notifications; polling")
	})
}

// follow listens until the connection is lost.
func (e *ear) follow(ctx context.Context) error {
	conn, err := e.Listen(ctx, e.hear)
	if err != nil {
		return err
	}
	defer hangUp(ctx, conn)
	for {
		if err := e.speak(ctx, conn); err != nil {
			return err
		}
		if !e.lives() {
			e.set(true)
			e.Log.Debug().Msg("listening on a connection of its own")
		}
		if err := listen(ctx, conn); err != nil {
			return err
		}
	}
}

// listen takes what comes, until it is time to speak.
func listen(ctx context.Context, conn *pgconn.PgConn) error {
	waiting, cancel := context.WithTimeout(ctx, earTick)
	defer cancel()
	for {
		err := conn.WaitForNotification(waiting)
		if pgconn.Timeout(err) && ctx.Err() == nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// speak listens to the channels, again and again: it is the sign of life, too.
func (e *ear) speak(ctx context.Context, conn *pgconn.PgConn) error {
	ctx, cancel := e.Limit(ctx)
	defer cancel()
	for _, channel := range e.channels {
		if _, err := conn.Exec(ctx, listenTo(channel)).ReadAll(); err != nil {
			return err
		}
	}
	return nil
}

// hear takes in a notification, and pokes the leader once until it takes them, though not at once in
// a flood of them.
func (e *ear) hear(n *pgconn.Notification) {
	e.mu.Lock()
	e.notices.Take(n, sql.Channel(e.Table), e.control)
	poked, flood := e.poked, e.notices.flood.lasts()
	e.poked = true
	e.mu.Unlock()
	switch {
	case poked:
	case flood:
		e.Group.After(boredTick, func() { e.Poke() })
	default:
		e.Poke()
	}
}

// tell adds what has been heard to what the leader knows. What was not heard before the line was
// there may have been anything.
func (e *ear) tell(n *Notices) {
	e.mu.Lock()
	defer e.mu.Unlock()
	heard := e.notices
	n.come = n.come || heard.come || e.fresh
	n.Changed = n.Changed || heard.Changed || e.fresh
	n.Regrouped = n.Regrouped || heard.Regrouped || e.fresh
	n.others += heard.others
	n.flood = heard.flood
	e.notices, e.poked, e.fresh = Notices{flood: heard.flood}, false, false
}

// hangUp closes the connection of a line.
func hangUp(ctx context.Context, conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}
