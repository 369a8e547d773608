package inbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/work/control"
	"pgtaskd/work/ledger"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

var errRow = error(&pgconn.PgError{Severity: "ERROR", Code: "42883", Message: "the server says no"})

// received is how often a channel has received.
func received(c <-chan struct{}) (n int) {
	for {
		select {
		case <-c:
			n++
		default:
			return n
		}
	}
}

// TestMessagesKeepTheirOrder: Take gets all outcomes in the order in which they came, and Do the
// rest. However many come, the loop is woken once.
func TestMessagesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	var got []string
	b := New(Config{})
	b.Seen = func(o run.Outcome) {
		got = append(got, fmt.Sprint("outcome ", o.PID))
		if o.PID == 2 {
			b.Outcome(run.Outcome{PID: 9}) // comes while the loop takes the others
		}
	}
	check := func(when string, woken int, want ...string) {
		t.Helper()
		if n := received(b.Poked()); n != woken || !slices.Equal(got, want) {
			t.Errorf("%s: woken %d times, got %q", when, n, got)
		}
		got = nil
	}
	for pid := range int32(3) {
		b.Later(func() { got = append(got, fmt.Sprint("later ", pid)) })
		b.Outcome(run.Outcome{PID: pid})
	}
	check("before the loop looks", 1)
	b.Take()
	check("the first round", 1, "outcome 0", "outcome 1", "outcome 2")
	b.Take()
	check("the second round", 0, "outcome 9")
	b.Do()
	check("the functions", 0, "later 0", "later 1", "later 2")
	b.Take()
	b.Do()
	check("nothing is left", 0)
	if received(b.Asked()) != 0 {
		t.Error("nobody has asked")
	}
}

// TestRunnersWaitForTheirAnswers: each gets its own. A runner that has given up does not keep the
// loop from answering.
func TestRunnersWaitForTheirAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := map[int32]chan<- run.Answer{}
		b := New(Config{ToMark: func(_ *run.Task, what run.Marking, answer chan<- run.Answer) { asked[what.PID] = answer }})
		impatient, giveUp := context.WithCancel(t.Context())
		answers := make([]*run.Answer, 3)
		for i, ctx := range []context.Context{t.Context(), impatient, t.Context()} {
			go func() {
				a := b.Mark(ctx, nil, run.Marking{PID: int32(i)})
				answers[i] = &a
			}()
		}
		synctest.Wait()
		if received(b.Asked()) != 1 || received(b.Poked()) != 1 {
			t.Error("the loop is not woken once")
		}
		b.Take()
		giveUp()
		synctest.Wait()
		if answers[0] != nil || answers[1] == nil || answers[1].OK || answers[2] != nil {
			t.Fatal("before the loop answers: ", answers)
		}
		for pid, answer := range asked {
			answer <- run.Answer{OK: pid != 2}
		}
		synctest.Wait()
		if answers[0] == nil || !answers[0].OK || answers[1].OK || answers[2] == nil || answers[2].OK {
			t.Error("answers: ", answers)
		}
	})
}

// enrols has runners enrol a session each, and returns their errors.
func enrols(t *testing.T, b *Inbox, leaders ...int32) []error {
	t.Helper()
	errs := make([]error, len(leaders))
	for i, leader := range leaders {
		errs[i] = io.EOF // it still waits
		go func() { errs[i] = b.Enrol(t.Context(), pool.Backend{PID: int32(100 + i)}, leader) }()
		synctest.Wait()
	}
	b.Take()
	return errs
}

// TestEnlist: a session of an earlier term is not registered. If the server refuses the others,
// they learn why. If the connection is lost, they wait on.
func TestEnlist(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		register error
		lost     bool
	}{"registered": {nil, false}, "refused": {errRow, false}, "the connection is lost": {io.ErrUnexpectedEOF, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var pids []int32
				b := New(Config{
					Control: control.New(target.Target{}, nil), // its pid is 0
					Register: func(_ context.Context, opened []pool.Backend) error {
						for _, one := range opened {
							pids = append(pids, one.PID)
						}
						return c.register
					},
				})
				errs := enrols(t, b, 0, 77, 0)
				err := b.Enlist(t.Context())
				synctest.Wait()
				if !slices.Equal(pids, []int32{100, 102}) || errs[1] != pool.ErrNotLeading {
					t.Error("registered ", pids, ", the one of an earlier term: ", errs[1])
				}
				if want := map[bool]error{true: io.EOF, false: c.register}[c.lost]; !errors.Is(errs[0], want) || !errors.Is(errs[2], want) {
					t.Error("they were told ", errs)
				}
				if (err != nil) != c.lost || b.Waited() != c.lost {
					t.Errorf("%v, and somebody waits: %v", err, b.Waited())
				}
				b.Decline()
				synctest.Wait()
				if c.lost && (errs[0] != pool.ErrNotLeading || errs[2] != pool.ErrNotLeading) || b.Waited() {
					t.Error("after the term they were told ", errs)
				}
			})
		})
	}
}

// TestPrepare: the ledger gets the entry, and its answer decides whether the runner may commit.
func TestPrepare(t *testing.T) {
	t.Parallel()
	for result, want := range map[ledger.Result]run.Prepared{
		ledger.Taken: run.Taken, ledger.Changed: run.Untaken, ledger.Own: run.OwnLock, ledger.Locked: run.OthersLock,
		ledger.Refused: run.Unprepared, ledger.Lost: run.Unreachable, ledger.Withdrawn: run.Untaken,
	} {
		var put []*ledger.Entry
		b := New(Config{Put: func(entries ...*ledger.Entry) {
			put = append(put, entries...)
			entries[0].Tell(ledger.Answer{Result: result, Err: errRow})
		}})
		task := &run.Task{Row: run.Row{ID: 7, Version: 8}}
		got, why := b.Prepare(t.Context(), task, run.Preparation{PID: 9, Xact: 10, Claims: result == ledger.Own})
		if got != want || why == nil || !strings.Contains(why.Text, "the server says no") {
			t.Errorf("%d: %d, %v; want %d", result, got, why, want)
		}
		kind := ledger.Prepare
		if result == ledger.Own {
			kind = ledger.Claim
		}
		if e := put[0]; len(put) != 1 || e.Kind != kind || e.ID != 7 || e.Version != 8 || e.PID != 9 || e.Xact != 10 || !e.Patient {
			t.Errorf("entry %+v", e)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if got, _ := New(Config{Put: func(...*ledger.Entry) {}}).Prepare(ended, &run.Task{}, run.Preparation{}); got != run.Unreachable {
		t.Error("without an answer: ", got)
	}
}

// TestAnswer: questions are asked in order. Only an error that concerns the leader's connection
// ends the round, and then the question is asked again.
func TestAnswer(t *testing.T) {
	t.Parallel()
	answers := make(chan run.Answer, 9)
	var asked []string
	b := New(Config{})
	ask := func(name string, errs ...error) {
		b.questions = append(b.questions, question{func(context.Context, *run.Answer) error {
			asked = append(asked, name)
			err := errs[0]
			errs = errs[min(1, len(errs)-1):]
			return err
		}, answers})
	}
	locked := &pgconn.PgError{Severity: "ERROR", Code: "55P03", Routine: "ProcessInterrupts"}
	ask("found", nil)
	ask("no row", pgx.ErrNoRows)
	ask("refused", errRow)
	ask("altered", fault.As(fault.Outdated, errRow), nil)
	ask("locked", locked, nil)
	ask("lost", io.ErrUnexpectedEOF, nil)
	ask("last", nil)
	for _, want := range []error{locked, io.ErrUnexpectedEOF, nil} {
		if err := b.Answer(t.Context()); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	want := []string{"found", "no row", "refused", "altered", "altered", "locked", "locked", "lost", "lost", "last"}
	if !slices.Equal(asked, want) || b.Waited() {
		t.Errorf("asked %q", asked)
	}
	for i, ok := range []bool{true, false, true, true, true, true, true} {
		if a := <-answers; a.OK != ok || (a.Refused != nil) != (i == 2) {
			t.Errorf("answer %d: %+v", i, a)
		}
	}
}
