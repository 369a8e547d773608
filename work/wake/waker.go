package wake

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
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

// A leader that sleeps holds a lock alone; those who insert tasks see that, and wake it by NOTIFY.
// Commits that NOTIFY wait for each other in the whole server. So when tasks come in fast the
// leader stays awake: it gives the lock up, looks for tasks by itself, and spares those who insert
// the NOTIFY. They share the lock until they have committed. Before the leader sleeps it tries to
// take the lock alone, without waiting for it: once it has it, all that it was not told of is
// committed, and it looks once more. Until then it stays awake.
const (
	crowd      = 20                     // so many NOTIFYs within crowdTick keep the leader awake
	crowdTick  = 100 * time.Millisecond // and for so long at least
	awakeTick  = 5 * time.Millisecond   // between two looks of a leader that is awake
	boredTick  = 50 * time.Millisecond  // the same at most, when nothing is due
	boredShare = 50                     // the part that it waits of the time for which nothing was due
	boredTries = 5                      // looks, at least, between two tries to fall asleep

	// queueMost is the part of the server's queue of notifications that may be full. A session that
	// listens and does not read fills it, and when it is full every NOTIFY fails: from 0.9 on triggers
	// leave it out, which is long after the leader has begun to look by itself.
	queueMost = 0.5
)

// sleep is what the leader knows of its sleep. It begins awake.
type sleep struct {
	asleep bool
	queue  float64   // how full the server's queue of notifications is
	tried  time.Time // to fall asleep, or has woken up
	found  time.Time // when something was due, asleep or not
}

// tick is the time between two looks. It does not begin anew with a sleep: those who insert tasks for
// later wake the leader whenever it has fallen asleep between two of their commits.
func (s *sleep) tick() time.Duration {
	return min(max(time.Since(s.found)/boredShare, awakeTick), boredTick)
}

// Awake tells whether the leader looks for new tasks by itself all the time, though NOTIFY is
// possible.
func (w *Waker) Awake() bool { return w.source.way == sql.Notify && !w.sleep.asleep }

// full tells that notifications may be left out, as the server's queue is nearly full.
func (s *sleep) full() bool { return s.queue >= queueMost }

// Full tells that the server's queue of notifications may have no room for more.
func (w *Waker) Full() bool { return w.sleep.full() }

// QueueIs takes in how full the server's queue of notifications is: from 0 to 1.
func (w *Waker) QueueIs(full float64) { w.sleep.queue = full }

// FallAsleep does so where NOTIFY is the way, or wakes up, or leaves it as it is. After it has
// fallen asleep, the leader must look at all that is due once more.
func (w *Waker) FallAsleep(ctx context.Context) (fell bool, err error) {
	s := &w.sleep
	switch {
	case w.source.way != sql.Notify:
		return false, nil
	case s.asleep && !w.Notices.flood.lasts() && !s.full():
		return false, nil
	case s.asleep:
		return false, w.WakeUp(ctx)
	case time.Since(s.tried) < max(crowdTick, boredTries*s.tick()), s.full():
		return false, nil
	}
	s.tried = time.Now()
	if err = w.Control.Row(ctx, "asleep", []any{w.source.waking.Lock}, &s.asleep); s.asleep {
		w.Notices.flood = flood{}
	}
	return s.asleep, err
}

// WakeUp gives up the lock of the leader's sleep, if it sleeps.
func (w *Waker) WakeUp(ctx context.Context) error {
	if !w.sleep.asleep {
		return nil
	}
	w.sleep.asleep, w.sleep.tried = false, time.Now()
	return w.Control.Row(ctx, "awake", []any{w.source.waking.Lock}, new(bool))
}
