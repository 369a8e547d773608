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

// talkative has the server say more about each statement of a session than sockets hold.
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

// settingsOf are settings of a task's own, as long as may be.
func settingsOf(value string) (own [][2]string) {
	for i := range 1500 {
		own = append(own, [2]string{fmt.Sprint("my.own_setting_of_a_task_", i), value})
	}
	return own
}

// TestWhatIsSentDoesNotWaitForUsToRead: whatever the server says about what makes the session
// ready, or about COMMIT, it gets all that comes after that, however long.
func TestWhatIsSentDoesNotWaitForUsToRead(t *testing.T) {
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

// TestOwnSettings are set in their order, whatever the session reads arrays with, and gone before
// the next task, even if that keeps what the one before it has left.
func TestOwnSettings(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const shown = "SELECT concat_ws('|', current_setting('work_mem'), current_setting('my.own', true), current_setting('array_nulls'), current_setting('client_encoding'))"
	for _, c := range []struct {
		own  [][2]string
		want string
	}{
		{[][2]string{{"my.own", "a"}, {"work_mem", "7MB"}, {"my.own", "NULL"}}, "7MB|NULL|on|UTF8"},
		{[][2]string{{"array_nulls", "off"}, {"client_encoding", "LATIN1"}, {"my.own", `o{,"\`}}, "4MB|o{,\"\\|off|LATIN1"},
		{nil, "4MB||on|UTF8"},
		{[][2]string{{"my.own", ""}}, "4MB||on|UTF8"},
	} {
		task := spec(shown)
		task.Own, task.Keep, task.Save = c.own, true, true
		result, _ := b.run(task, nil)
		if result.Failure != nil || result.Output == nil || *result.Output != c.want {
			t.Errorf("%v: %v %v", c.own, result.Failure, result.Output)
		}
		b.end(result)
	}
}

// TestASessionIsReadySoon or is lost, though what its tasks may take is longer; and what the user's
// triggers do at the end of the task before does not count.
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
		task.Input += strings.Repeat(" ", 8<<20) // which is still being sent then
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
