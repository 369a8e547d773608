package exec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"pgtaskd/exec/text"
	"pgtaskd/exec/traits"
	"pgtaskd/routine"
	"pgtaskd/server/fake"
	"pgtaskd/server/servertest"
)

// hostileLimit is the limit of a session whose server may not answer. hostileMost is the time that
// a whole conversation may take on a busy machine.
const (
	hostileLimit = 300 * time.Millisecond
	hostileMost  = 20 * time.Second
)

// conversations use sessions in different ways, by name.
var conversations = map[string]func(context.Context, *Session) error{
	"questions": func(ctx context.Context, s *Session) error {
		_, err := s.ServerStart(ctx)
		return err
	},
	"tasks": func(_ context.Context, s *Session) error {
		var tail *Tail
		for range 3 {
			if err := begun(s.Begin(tail, hostileTask(true))); err != nil {
				return err
			}
			result, err := awaited(s, hostileTask(true))
			if err != nil {
				return err
			}
			if tail = nil; result.Open {
				tail = &Tail{}
			}
		}
		if tail != nil {
			if err := ended(s.End(tail)); err != nil {
				return err
			}
		}
		return s.Reset()
	},
	"pipeline": func(_ context.Context, s *Session) error {
		if err := begun(s.Begin(nil, hostileTask(true), hostileTask(true), hostileTask(true))); err != nil {
			return err
		}
		for more := s.Takes(); ; more = false {
			result, err := awaited(s, hostileTask(true))
			if err != nil || !result.Open {
				return err
			}
			if s.Behind() == 0 {
				return ended(s.End(&Tail{}))
			}
			if more && s.Takes() {
				s.Extend(hostileTask(true))
			}
			verdict, _, goesOn, err := s.Next()
			if err := ended(verdict, err); err != nil || !goesOn {
				return err
			}
		}
	},
	"alone": func(_ context.Context, s *Session) error {
		if err := begun(s.Begin(nil, hostileTask(false))); err != nil {
			return err
		}
		_, err := awaited(s, hostileTask(false))
		return err
	},
	"cancelled": func(_ context.Context, s *Session) error {
		if err := begun(s.Begin(nil, hostileTask(true))); err != nil {
			return err
		}
		s.Cancel(Stopped)
		_, err := awaited(s, hostileTask(true))
		return err
	},
}

func hostileTask(atomic bool) *Task {
	return &Task{
		Input: "SELECT 1", Traits: traits.Examine("SELECT 1"), Atomic: atomic, Query: atomic, Timeout: hostileLimit,
		Format: text.Format{Delimiter: '\t', Quote: '"', Header: true, String: true}, Limit: 1 << 16, Until: time.Now().Add(time.Hour),
	}
}

// begun, awaited and ended check that a row can store the values that a session returns.
func begun(verdict *Verdict, start time.Time, err error) error {
	if err := ended(verdict, err); err != nil {
		return err
	}
	if start.IsZero() || !storableMoment(start) {
		return fmt.Errorf("%w: begun at %s", errNotStorable, start)
	}
	return nil
}

func awaited(s *Session, t *Task) (*Result, error) {
	result, err := s.Await(t)
	if result == nil {
		return nil, errors.Join(errNotStorable, err)
	}
	for _, text := range []*string{result.Output, result.Notice} {
		if text != nil && (!utf8.ValidString(*text) || strings.Contains(*text, "\x00") || len(*text) > 1<<17) {
			return nil, fmt.Errorf("%w: %.100q", errNotStorable, *text)
		}
	}
	if !result.Stop.IsZero() && !storableMoment(result.Stop) {
		return nil, fmt.Errorf("%w: ended at %s", errNotStorable, result.Stop)
	}
	return result, errors.Join(err, storable(result.Failure))
}

func ended(verdict *Verdict, err error) error {
	if failure := new(text.Failure); errors.As(err, &failure) {
		return errors.Join(failure, storable(failure))
	}
	if verdict == nil {
		return err
	}
	return errors.Join(err, storable(verdict.Failure))
}

var errNotStorable = errors.New("no row can hold it")

func storableMoment(t time.Time) bool { return t.Year() >= 1970 && t.Year() <= 9999 }

func storable(f *text.Failure) error {
	if f != nil && (!utf8.ValidString(f.Text) || len(f.Text) > text.Limit || len(f.SQLState) != 5 || strings.Trim(f.SQLState, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "") {
		return fmt.Errorf("%w: %.10q %.100q", errNotStorable, f.SQLState, f.Text)
	}
	return nil
}

// converse has a conversation with a server.
func converse(ctx context.Context, dsn, what string, limit time.Duration) error {
	cfg, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s, err := Connect(limited, cfg, limit, false, true)
	if err != nil {
		return err
	}
	s.cancel.obey = limit
	defer s.Close()
	return conversations[what](limited, s)
}

// about returns the conversations that have this exchange.
func about(exchange fake.Exchange) []string {
	switch exchange {
	case fake.Question:
		return []string{"questions"}
	case fake.Cancel:
		return []string{"cancelled"}
	case fake.Encryption, fake.SASL, fake.Continue, fake.Final, fake.Startup:
		return []string{"alone"}
	}
	return []string{"tasks", "pipeline", "alone"}
}

// TestRightServer: each conversation succeeds with the unchanged fake server.
func TestRightServer(t *testing.T) {
	t.Parallel()
	server, err := fake.Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	for what := range conversations {
		if err := converse(t.Context(), server.DSN(), what, hostileMost); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestWrongServer: the server gives a wrong answer in any exchange, from the first or a later time
// on. Nothing panics, takes long or leaks a goroutine, and a row can store every result.
func TestWrongServer(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var room sync.WaitGroup
	var all, reached atomic.Int64
	defer func() {
		room.Wait()
		t.Logf("%d of %d conversations have come to what is wrong", reached.Load(), all.Load())
	}()
	most := make(chan struct{}, 16)
	turn := rand.IntN(3)
	for _, exchange := range fake.Exchanges {
		for _, way := range fake.Ways() {
			for _, what := range about(exchange) {
				for from := range 2 {
					if turn++; !servertest.Thorough && turn%3 != 0 {
						continue
					}
					most <- struct{}{}
					room.Go(func() {
						defer func() { <-most }()
						all.Add(1)
						if wrong(t, exchange, way, what, from) {
							reached.Add(1)
						}
					})
				}
			}
		}
	}
}

// wrong has a conversation with a server that gives wrong answers in an exchange after the first
// from times. reached: the server has given a wrong answer.
func wrong(t *testing.T, exchange fake.Exchange, way fake.Way, what string, from int) (reached bool) {
	name := fmt.Sprintf("%s: %s: %s (%d)", what, exchange, way.Name, from)
	var count atomic.Int64
	server, err := fake.Start(func(e fake.Exchange, right []fake.Message) fake.Answer {
		if e == exchange && count.Add(1) > int64(from) {
			return way.Change(right)
		}
		return fake.Right(right)
	})
	if err != nil {
		t.Error(err)
		return false
	}
	defer server.Stop()
	dsn := server.DSN() + " sslmode=disable"
	if exchange == fake.Encryption {
		dsn = server.DSN() + " sslmode=prefer"
	}
	began := time.Now()
	err = routine.Guard(func() error { return converse(t.Context(), dsn, what, hostileLimit) })
	if p := new(routine.Panic); errors.As(err, &p) {
		t.Errorf("%s: %v\n%s", name, p, p.Stack)
	}
	if took := time.Since(began); took > servertest.Limit(hostileMost) {
		t.Errorf("%s took %s", name, took)
	}
	if errors.Is(err, errNotStorable) {
		t.Errorf("%s: %v", name, err)
	}
	if err == nil && from == 0 && mustFail(exchange, way) {
		t.Errorf("%s: no error", name)
	}
	return count.Load() > int64(from)
}

// mustFail tells whether an answer lacks the requested values, so that there must be an error.
func mustFail(exchange fake.Exchange, way fake.Way) bool {
	return (exchange == fake.Question || exchange == fake.Preparation) && slices.Contains([]string{
		"no row", "a row without columns", "nulls", "empty strings", "long strings", "text", "no characters", "nothing", "silence",
		"the last moment", "the first moment",
	}, way.Name)
}
