package work

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"pgtaskd/remote"
	"pgtaskd/server"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql/schema"
)

// allSteps is an environment variable: with it, TestEveryStep tries all messages, or a part of
// them, instead of one message of each name.
const allSteps = "PGTASKD_STEPS"

// TestEveryStep: a controller dies at a message, before or right after it passes. Whichever message
// that is, the next controller brings every task to the right end.
func TestEveryStep(t *testing.T) {
	t.Parallel()
	other := servertest.New(t, server.Options{})
	seen, names := newRig(t, other).try(moment{}).sights()
	seed := uint64(time.Now().UnixNano())
	moments := sample(seen, rand.New(rand.NewPCG(seed, 0)))
	if wanted := os.Getenv(allSteps); wanted != "" {
		var part, parts int
		if _, err := fmt.Sscanf(wanted, "%d/%d", &part, &parts); err != nil || part < 1 || part > parts {
			t.Fatalf("%s=%s: want 1/1 for all, or 2/5 for the second part of five", allSteps, wanted)
		}
		moments = every(seen, part, parts)
	}
	t.Logf("%d messages with %d names, %d moments of seed %d", len(seen), names, len(moments), seed)
	queue := make(chan moment, len(moments))
	for _, m := range moments {
		queue <- m
	}
	close(queue)
	for i := range 6 {
		t.Run(fmt.Sprint("rig ", i), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, other)
			for m := range queue {
				r.try(m)
			}
		})
	}
}

// every returns the moments before and after each message of the controller, and before each
// message of the server: after that, the controller's next message is the next moment. Only one of
// the parts is kept.
func every(seen []sight, part, parts int) (moments []moment) {
	for _, s := range seen {
		moments = append(moments, s.moment)
		if s.fromClient {
			moments = append(moments, s.rightAfter())
		}
	}
	var wanted []moment
	for i, m := range moments {
		if i%parts == part-1 {
			wanted = append(wanted, m)
		}
	}
	return wanted
}

// sampleMost is how many moments one run of all tests tries; the next run tries others.
const sampleMost = 14

// sample has at most one message of each name that makes the server act, from shortly before the
// first change of the table on, and a few earlier ones.
func sample(seen []sight, random *rand.Rand) (moments []moment) {
	first := slices.IndexFunc(seen, func(s sight) bool { return s.change })
	prelude, rest := seen[:max(first-40, 0)], seen[max(first-40, 0):]
	for range 3 {
		moments = append(moments, prelude[random.IntN(len(prelude))].moment)
	}
	chosen, known := map[string]sight{}, map[string]int{}
	for _, s := range rest {
		if s.fromClient && s.acts {
			if known[s.name]++; random.IntN(known[s.name]) == 0 { // each with the same chance
				chosen[s.name] = s
			}
		}
	}
	for _, s := range rest {
		if chosen[s.name] == s {
			s.after = random.IntN(2) == 0
			moments = append(moments, s.moment)
		}
	}
	random.Shuffle(len(moments), func(i, k int) { moments[i], moments[k] = moments[k], moments[i] })
	return moments[:min(len(moments), sampleMost)]
}

// rig is a database in which controllers die, one after the other.
type rig struct {
	*stage
	far      *stage // the database of the remote on another server
	proxies  []*proxy.Proxy
	dying    Target    // leads through the proxy
	listener *pgx.Conn // hears the notifications of tasks
}

func newRig(t *testing.T, other *server.Server) *rig {
	t.Helper()
	s := prepared(t, func(target *Target) { target.Run = 4 }) // sessions cost much
	r := &rig{stage: s, dying: s.target, listener: s.connect()}
	for _, at := range []*server.Server{servertest.Server(t), other} {
		p, err := proxy.Start(at.Socket())
		s.succeeds(err)
		t.Cleanup(p.Stop)
		r.proxies = append(r.proxies, p)
	}
	name := s.get("SELECT current_database()")
	stageOn(t, other.DSN("postgres")).exec("CREATE DATABASE " + name)
	r.far = stageOn(t, other.DSN(name))
	r.far.exec("CREATE TABLE effect (id int8)")
	dsn := r.proxies[0].DSN(s.dsn)
	var err error
	r.dying.Connect, err = remote.Parse(dsn)
	s.succeeds(err)
	r.dying.Remotes = map[string]string{"self": dsn, "other": r.proxies[1].DSN(r.far.dsn)}
	s.target.Remotes = map[string]string{"self": s.dsn, "other": r.far.dsn}
	tasktest.Make(t, s.connect(), schema.Options{})
	s.exec(script("setup"))
	if _, err := r.listener.Exec(t.Context(), "LISTEN heard"); err != nil {
		t.Fatal(err)
	}
	return r
}

// heard is how often tasks have notified since the last call.
func (r *rig) heard() (times int) {
	r.t.Helper()
	r.exec("NOTIFY heard, 'no more'")
	ctx, cancel := context.WithTimeout(r.t.Context(), patient)
	defer cancel()
	for {
		switch n, err := r.listener.WaitForNotification(ctx); {
		case err != nil:
			r.t.Fatal(err)
		case n.Payload != "":
			return times
		}
		times++
	}
}

// script reads a SQL file of this test.
func script(name string) string {
	text, err := os.ReadFile("testdata/steps/" + name + ".sql")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// try lets a controller die at a moment (if it comes) and another one finish, and checks the tasks.
func (r *rig) try(last moment) *witness {
	r.t.Helper()
	w := witnessOf(last)
	for i, p := range r.proxies {
		p.Watch(func(conn int, fromClient bool, kind byte, body []byte) proxy.Verdict {
			return w.watch(conn*len(r.proxies)+i, fromClient, kind, body)
		})
	}
	r.exec(script("tasks"))
	end := r.start(r.dying)
	r.until("death or end", func() bool { return w.killed() || r.get(script("ended")) == "true" })
	end()
	if !w.killed() && last != (moment{}) {
		r.t.Logf("%s: has not come this time", last)
	}
	for _, p := range r.proxies {
		p.Cut()
	}
	r.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pgtaskd %'")
	end = r.start(r.target)
	r.until("end after death "+last.String(), func() bool { return r.get(script("ended")) == "true" })
	end()
	if wrong := r.get(script("wrong")); wrong != "NULL" {
		r.t.Errorf("%s: %s", last, wrong)
	}
	const ids = "SELECT string_agg(id::text, ' ' ORDER BY id) FROM "
	if effects, done := r.far.get(ids+"effect"), r.get(ids+"task WHERE data = 'elsewhere' AND state = 'DONE'"); effects != done {
		r.t.Errorf("%s: effects of %s on the other server, but %s are DONE", last, effects, done)
	}
	// At least once: the task has no transaction id, and its COMMIT comes before its DONE.
	if times := r.heard(); times != 1 {
		r.t.Errorf("%s: notified %d times", last, times)
	}
	r.exec("TRUNCATE task, effect")
	r.far.exec("TRUNCATE effect")
	return w
}

// start makes a controller serve the table; end ends it without a drain.
func (r *rig) start(target Target) (end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = Serve(ctx, make(chan struct{}), target, zerolog.New(r)) // it is cut off, or we end it
	}()
	return func() {
		cancel()
		<-ended
	}
}
