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
	reconcile = 30 * time.Second     // between two looks at all that is due, where something wakes us
	askedTick = 2 * time.Millisecond // between two looks that are asked for
)

// Config is what a Waker works with.
type Config struct {
	Target  target.Target
	Control *control.Control // its connection listens, and holds the lock of the leader's sleep
	Notices *Notices
	Group   *routine.Group
	Log     zerolog.Logger
	Poke    func() // called when the write-ahead log may tell of new tasks; it must not wait
}

// Waker tells the leader of one target that a task may have become due.
type Waker struct {
	Config
	conn   *pgx.Conn // that listens; nil: Adopt was not called yet
	source source
	leads  bool // between Start and Stop

	sleep  sleep
	stream *stream // nil: there is none
	hangUp func()  // ends it
	unseen unseen
}

// source is how new tasks are noticed.
type source struct {
	way    sql.Wake      // Notify, WAL or Poll
	waking schema.Waking // only what is heard
}

// New returns a Waker that polls until Adopt says what else is possible.
func New(c Config) *Waker { return &Waker{Config: c, source: source{way: sql.Poll}} }

// Way is how new tasks are noticed now: Notify, WAL or Poll.
func (w *Waker) Way() sql.Wake { return w.source.way }

// Adopt listens on the connection that there is now, and goes over to the way of waking that is
// possible with the table as it is. It makes a stream again with its publication: while there was
// none, a transaction may have inserted tasks that is still open.
func (w *Waker) Adopt(ctx context.Context, way sql.Wake, heard schema.Waking) error {
	conn := w.Control.Conn()
	heard.Inserts = way == sql.Notify
	heard.Changes = heard.Changes && plain(conn.PgConn())
	if way != sql.WAL {
		heard.Published = 0
	}
	now := source{way, heard}
	for _, channel := range now.channels(w.Target.Relation()) {
		if _, err := conn.Exec(ctx, "LISTEN "+quoted(channel)); err != nil {
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

// channels are those of the table's triggers that are heard.
func (s source) channels(t sql.Table) (channels []string) {
	if s.way == sql.Notify {
		channels = append(channels, s.waking.Channel)
	}
	if s.way != sql.Poll && s.waking.Changes {
		channels = append(channels, sql.Channel(t))
	}
	return channels
}

// Start begins to follow the write-ahead log, where that is the way. The leader must look at all
// that is due after it.
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

// Stop ends what Start has begun.
func (w *Waker) Stop() {
	if w.stream != nil {
		w.hangUp()
	}
	w.leads, w.stream = false, nil
}

// News takes in what has come since the last call, and tells whether there may be new tasks. The
// leader has last looked for new ones at the time scanned.
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

// Rest is how long the leader may wait until it looks for new tasks by itself; for ever where it
// need not.
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

// Every is the time between two looks at all that is due, when nothing says that there is
// something: the poll, with a period of poll where the leader is not told of everything.
func (w *Waker) Every(poll time.Duration) time.Duration {
	if !w.sleep.full() && (w.source.way == sql.Notify || w.stream != nil && w.stream.lives() && w.source.waking.Changes) {
		return reconcile
	}
	return poll
}

// Tells tells whether the leader is told of changes other than new tasks.
func (w *Waker) Tells() bool {
	return w.source.way != sql.Poll && w.source.waking.Changes && !w.sleep.full()
}

// Pause is the time from a look for new tasks to the next one that is asked for.
func (w *Waker) Pause() time.Duration {
	if w.Notices.flood.lasts() {
		return w.sleep.tick()
	}
	return askedTick
}

// Found takes in that a look has found tasks that were due.
func (w *Waker) Found(at time.Time) { w.sleep.found = at }

// LookLater puts off the look for what the stream has told of.
func (w *Waker) LookLater(at time.Time) { w.unseen.next = at.Add(askedTick) }

// AskUnseen adds to a batch the question which of the transactions that the stream has told of
// cannot be seen yet by what follows in it.
func (w *Waker) AskUnseen(batch *pgx.Batch) { w.unseen.ask(batch, w.Control) }

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// regrouped is what the trigger of the table of groups notifies of.
const regrouped = "group"

// Notices are the notifications that have come to the leader.
type Notices struct {
	Changed   bool // somebody has changed or deleted a row that waits
	Regrouped bool // or a row of the table of groups

	come  bool // since News was called last
	flood flood
}

// Take takes in one; changes is the channel of the table's triggers for all but new tasks, own the
// process of the control connection.
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

// flood tells whether notifications come so fast that they say nothing any more: anybody who can
// connect may send them. The leader does what they ask for no more often then than one that is awake.
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

// Noticed tells whether a notification has come since News was called last; urgent is false in a
// flood of notifications.
func (w *Waker) Noticed() (come, urgent bool) {
	n := w.Notices
	return n.come, n.come && !n.flood.lasts()
}

// Wait waits for a notification, but not longer than d. It returns where its end is told: an error
// means that the connection is lost. Until that end nobody else may use the connection; cancel
// brings it about.
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
