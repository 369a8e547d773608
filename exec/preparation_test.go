package exec

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server/fake"
	"pgtaskd/server/servertest"
)

// talkative makes the server send more for each statement than the socket buffers hold.
func talkative(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	for _, name := range []string{"debug_print_parse", "debug_print_rewritten", "debug_print_plan"} {
		b.exec(fmt.Sprintf("ALTER DATABASE %s SET %s TO on", b.get("SELECT current_database()"), name))
	}
	b.exec(fmt.Sprintf("ALTER DATABASE %s SET client_min_messages TO log", b.get("SELECT current_database()")))
	b.session.Close()
	b.open()
	return b
}

// TestSendingDoesNotWaitForReading: even if the server sends long answers to our statements, it
// gets the whole input after them, of any length.
func TestSendingDoesNotWaitForReading(t *testing.T) {
	t.Parallel()
	b := talkative(t)
	b.exec(`CREATE FUNCTION speaks() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE NOTICE '%', repeat('x', 4000000); RETURN NEW; END$$;
		CREATE CONSTRAINT TRIGGER speaks AFTER INSERT ON ends DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION speaks()`)
	comment := " /*" + strings.Repeat("x", 4<<20) + "*/"
	var tail *Tail
	for i, input := range []string{"SELECT current_setting('my.own_setting_of_a_task_7')", "INSERT INTO ends VALUES (7)", "VACUUM ends", "INSERT INTO ends VALUES (8)"} {
		task := spec(input + comment)
		task.Own, task.Keep, task.Save = settingsOf(fmt.Sprint(i)), i > 0, true
		result, verdict := b.run(task, tail)
		if result.Failure != nil {
			t.Fatalf("%s: %.200s", input, result.Failure.Text)
		}
		if tail != nil && (verdict == nil || !verdict.Committed) {
			t.Fatalf("before %s: %+v", input, verdict)
		}
		if tail = nil; result.Open {
			tail = &Tail{}
		}
	}
	if verdict, err := b.session.End(tail); err != nil || !verdict.Committed {
		t.Fatal(verdict, err)
	}
	if n := b.get("SELECT count(*) FROM ends"); n != "2" {
		t.Error("effects:", n)
	}
}

// TestASessionIsReadySoon: or it is lost, even if the limits of its tasks are longer. The time of
// users' triggers at the end of the previous task does not count.
func TestASessionIsReadySoon(t *testing.T) {
	t.Parallel()
	for _, way := range fake.Ways() {
		if way.Name != "silence" {
			continue
		}
		server, err := fake.Start(func(e fake.Exchange, right []fake.Message) fake.Answer {
			if e == fake.Preparation {
				return way.Change(right)
			}
			return fake.Right(right)
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Stop)
		cfg, err := pgconn.ParseConfig(server.DSN() + " sslmode=disable")
		if err != nil {
			t.Fatal(err)
		}
		s, err := Connect(t.Context(), cfg, time.Hour, false, true)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		if s.wire.brief > time.Minute {
			t.Error("it may take", s.wire.brief)
		}
		s.wire.brief = hostileLimit
		task := hostileTask(true)
		task.Input += strings.Repeat(" ", 8<<20) // the limit ends while we still send
		began := time.Now()
		if _, _, err := s.Begin(nil, task); !errors.As(err, new(*Lost)) || time.Since(began) > servertest.Limit(hostileMost) {
			t.Error(err, time.Since(began))
		}
	}
	b := newBench(t)
	b.session.wire.brief = time.Second
	b.exec(`CREATE FUNCTION lasts() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(2); RETURN NEW; END$$;
		CREATE CONSTRAINT TRIGGER lasts AFTER INSERT ON ends DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION lasts()`)
	b.run(spec("INSERT INTO ends VALUES (7)"), nil)
	result, verdict := b.run(spec("SELECT 1"), &Tail{})
	if !verdict.Committed {
		t.Errorf("%+v", verdict)
	}
	b.end(result)
}

// TestAFailedPreparationLeavesNothing: the next task waits for none of its answers.
func TestAFailedPreparationLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, input := range []string{"VACUUM ends", "SELECT 1"} {
		odd, next := spec("SELECT 1"), spec(input)
		odd.Settings, next.Settings = [][2]string{{"work_mem", "much"}}, [][2]string{{"work_mem", "1MB"}}
		if _, _, err := b.session.Begin(nil, odd); err == nil {
			t.Fatal("such a setting is taken")
		}
		result, _ := b.run(next, nil)
		if result.Failure != nil {
			t.Error(input, result.Failure)
		}
		b.end(result)
	}
}

// TestSettingsThatTheServerRefusesFailTheTask: they fail the task, because a new session would
// refuse them, too.
func TestSettingsThatTheServerRefusesFailTheTask(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	task := spec("SELECT 1")
	task.Settings = [][2]string{{"DateStyle", "no such style"}}
	_, start, err := b.session.Begin(nil, task)
	var gone *Lost
	if err == nil || errors.As(err, &gone) || !start.IsZero() {
		t.Errorf("%T %v, want a *text.Failure", err, err)
	}
}
