package wake

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/routine"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

const (
	reconcile = 30 * time.Second     // between two full scans, if NOTIFY or the log wakes us
	askedTick = 2 * time.Millisecond // between two looks that are asked for
)

// Config has the parts that a Waker needs.
type Config struct {
	Target  target.Target
	Control *control.Control // the connection listens, and holds the lock of the leader's sleep
	Notices *Notices
	Group   *routine.Group
	Log     zerolog.Logger
	Poke    func() // called when the write-ahead log may tell of new tasks; it must not wait
}

// Waker tells the leader of one target that a task may have become due.
type Waker struct {
	Config
	conn   *pgx.Conn // the connection that listens; nil: Adopt was not called yet
	source source
	leads  bool // between Start and Stop

	sleep  sleep
	stream *stream // nil: there is none
	hangUp func()  // ends the stream
	unseen unseen
}

// source is the way of waking, with the parts of the table that serve it.
type source struct {
	way    sql.Wake // Notify, WAL or Poll
	waking schema.Waking
}

// New returns a Waker that polls until Adopt says what else is possible.
func New(c Config) *Waker { return &Waker{Config: c, source: source{way: sql.Poll}} }

// Way returns the current way of waking: Notify, WAL or Poll.
func (w *Waker) Way() sql.Wake { return w.source.way }

// Adopt listens on the current control connection, and changes to the way of waking that is
// possible with the table as it is. If the publication is another one, it starts a new stream:
// transactions that are still open may have inserted tasks while there was no publication.
func (w *Waker) Adopt(ctx context.Context, way sql.Wake, heard schema.Waking) error {
	conn := w.Control.Conn()
	heard.Inserts = way == sql.Notify
	heard.Changes = heard.Changes && plain(conn.PgConn())
	if way != sql.WAL {
		heard.Published = 0
	}
	now := source{way, heard}
	listening, cancel := control.Limited(ctx)
	defer cancel()
	for _, channel := range now.channels(w.Target.Relation()) {
		if _, err := conn.Exec(listening, "LISTEN "+sql.Quoted(channel)); err != nil {
			return err
		}
	}
	same := now == w.source
	if conn == w.conn && !same {
		if err := w.WakeUp(ctx); err != nil {
			return err
		}
	}
	if conn != w.conn || !same {
		w.sleep = sleep{queue: w.sleep.queue}
	}
	w.conn, w.source = conn, now
	if w.leads && !same {
		w.Log.Info().Str("wake", string(way)).Msg("table changed")
		w.Stop()
		w.Start()
	}
	return nil
}

// channels returns the channels of the table's triggers to listen to.
func (s source) channels(t sql.Table) (channels []string) {
	if s.way == sql.Notify {
		channels = append(channels, s.waking.Channel)
	}
	if s.way != sql.Poll && s.waking.Changes {
		channels = append(channels, sql.Channel(t))
	}
	return channels
}

// Start follows the write-ahead log, if that is the way. Afterwards the leader must do a full scan.
func (w *Waker) Start() {
	w.leads, w.unseen = true, unseen{}
	if w.source.way != sql.WAL {
		return
	}
	w.stream = &stream{Config: w.Config, published: w.source.waking.Published}
	ctx, cancel := context.WithCancel(w.Group.Context())
	s := w.stream
	ended := w.Group.Start(func() error { return s.run(ctx) })
	w.hangUp = func() {
		cancel()
		<-ended
	}
}

// Stop ends the stream, and awaits its goroutine.
func (w *Waker) Stop() {
	if w.stream != nil {
		w.hangUp()
	}
	w.leads, w.stream = false, nil
}

// News takes in the news since the last call, and tells whether to look for new tasks. scanned is
// the time of the leader's last look.
func (w *Waker) News(scanned time.Time) bool {
	noticed := w.Notices.come
	w.Notices.come = false
	if w.stream != nil {
		decoded, look := w.stream.news()
		w.unseen.add(decoded)
		return noticed || look || w.unseen.due()
	}
	return noticed || w.Awake() && time.Since(scanned) >= w.sleep.tick()
}

// Rest returns the time until the leader must look for new tasks by itself; the greatest is never.
func (w *Waker) Rest(scanned time.Time) time.Duration {
	d := time.Duration(math.MaxInt64)
	if w.Awake() {
		d = w.sleep.tick() - time.Since(scanned)
	}
	if len(w.unseen.ids) > 0 {
		d = min(d, time.Until(w.unseen.next))
	}
	return d
}

// Every returns the time between two full scans; poll, if nothing tells of every change.
func (w *Waker) Every(poll time.Duration) time.Duration {
	if !w.sleep.full() && (w.source.way == sql.Notify || w.stream != nil && w.stream.lives() && w.source.waking.Changes) {
		return reconcile
	}
	return poll
}

// Tells tells whether notifications tell the leader of changes other than new tasks.
func (w *Waker) Tells() bool {
	return w.source.way != sql.Poll && w.source.waking.Changes && !w.sleep.full()
}

// Pause returns the shortest time from one look to the next, even if news ask for it.
func (w *Waker) Pause() time.Duration {
	if w.Notices.flood.lasts() {
		return w.sleep.tick()
	}
	return askedTick
}

// Found reports that a look has found due tasks.
func (w *Waker) Found(at time.Time) { w.sleep.found = at }

// LookLater puts off the next look for unseen transactions.
func (w *Waker) LookLater(at time.Time) { w.unseen.next = at.Add(askedTick) }

// AskUnseen asks in the batch which transactions the statements that follow in it cannot see yet.
func (w *Waker) AskUnseen(batch *pgx.Batch) { w.unseen.ask(batch, w.Control) }

// regrouped is the payload of the trigger on the table of groups.
const regrouped = "group"

// Notices are the notifications that have come to the leader.
type Notices struct {
	Changed   bool // somebody has changed or deleted a row that waits
	Regrouped bool // somebody has changed a row of the table of groups

	come  bool // a notification has come since the last call of News
	flood flood
}

// Take takes in a notification. changes is the channel of the table's triggers for all changes
// except new tasks. own is the process of the control connection.
func (n *Notices) Take(told *pgconn.Notification, changes string, own uint32) {
	n.come = true
	if told.PID != own {
		n.flood.hear(time.Now())
	}
	switch ours := told.Channel == changes; {
	case ours && told.Payload == regrouped:
		n.Regrouped = true
	case ours && told.PID != own:
		n.Changed = true
	}
}

// flood detects notifications that come too fast; anyone who can connect can send them. In a flood
// the leader looks only as often as an awake leader does.
type flood struct {
	since time.Time
	count int
}

func (f *flood) hear(now time.Time) {
	if now.Sub(f.since) >= crowdTick {
		f.since, f.count = now, 0
	}
	f.count++
}

func (f *flood) lasts() bool { return f.count >= crowd && time.Since(f.since) < 2*crowdTick }

// Noticed tells whether a notification has come since the last call of News; in a flood, not
// urgent.
func (w *Waker) Noticed() (come, urgent bool) {
	n := w.Notices
	return n.come, n.come && !n.flood.lasts()
}

// Wait starts to wait for a notification, for up to d. heard receives the end of the wait; an error
// means that the connection is lost. Nobody else may use the connection before that. cancel ends
// the wait early.
func (w *Waker) Wait(ctx context.Context, d time.Duration) (heard <-chan error, cancel func()) {
	waiting, cancel := context.WithTimeout(ctx, d)
	return w.Group.Start(func() error {
		err := w.conn.PgConn().WaitForNotification(waiting)
		if pgconn.Timeout(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		return err
	}), cancel
}
