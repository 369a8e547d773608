package work

import (
	"strings"
	"testing"

	"pgtaskd/major"
	"pgtaskd/server"
	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

func byWAL(t *Target) { t.Wake = sql.WAL }

const slots = "pg_replication_slots WHERE database = current_database() AND temporary AND active"

// streaming waits until the leader follows the log.
func (s *stage) streaming() {
	s.t.Helper()
	s.eventually("1", "SELECT count(*) FROM "+slots+" AND confirmed_flush_lsn IS NOT NULL")
	s.until("live", func() bool { return strings.Contains(s.logged(), "following the write-ahead log") })
}

// TestWAL: the log shows new tasks, also those in parts of a table. Nothing of ours runs where they
// are inserted.
func TestWAL(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"", " PARTITION BY RANGE (id)"} {
		t.Run("table"+kind, func(t *testing.T) {
			t.Parallel()
			if kind != "" && servertest.Lacks(t, major.PartitionedTriggers) {
				return
			}
			s := prepared(t, deaf, byWAL)
			if kind != "" {
				s.exec("CREATE TABLE task (id bigserial, input text NOT NULL)" + kind)
				s.exec("CREATE TABLE part PARTITION OF task FOR VALUES FROM (MINVALUE) TO (MAXVALUE)")
			}
			s.serve()
			s.settled()
			s.streaming()
			s.becomes(s.add("input", "SELECT 1"), "DONE")
			if kind != "" {
				s.exec("INSERT INTO part (input) VALUES ('SELECT 1')")
			}
			s.exec(`ALTER TABLE task ADD COLUMN mine text DEFAULT 'x'; ALTER TABLE task RENAME COLUMN mine TO "Mine"`)
			s.exec(`BEGIN; INSERT INTO task (input, "Mine") VALUES ('SELECT 1', 'y'); SAVEPOINT a; INSERT INTO task (input) VALUES ('SELECT 1'); COMMIT`)
			s.soon()
			later := s.add("input, plan", "SELECT 1", "infinity")
			s.exec("UPDATE task SET plan = now() WHERE id = $1", later) // triggers report this
			s.becomes(later, "DONE")
			if s.leads() != 1 {
				t.Errorf("led %d times", s.leads())
			}
		})
	}
}

// TestWALBeforeItIsVisible: a commit that waits for a standby is in the log, but not visible.
func TestWALBeforeItIsVisible(t *testing.T) {
	t.Parallel()
	own := servertest.New(t, server.Options{Settings: map[string]string{"synchronous_standby_names": "nobody", "synchronous_commit": "local"}})
	s := stageOn(t, own.DSN("postgres"), deaf, byWAL)
	s.serve()
	s.settled()
	s.streaming()
	waiting := s.connect()
	inserted := make(chan error, 1)
	go func() {
		_, err := waiting.Exec(t.Context(), "SET synchronous_commit = on; INSERT INTO task (input) VALUES ('SELECT 1')")
		inserted <- err
	}()
	s.eventually("1", "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	s.eventually("true", "SELECT bool_and(confirmed_flush_lsn >= pg_current_wal_lsn()) FROM "+slots)
	s.exec("SELECT pg_sleep(0.3)")
	s.exec("ALTER SYSTEM SET synchronous_standby_names = ''")
	s.exec("SELECT pg_reload_conf()")
	if err := <-inserted; err != nil {
		t.Fatal(err)
	}
	s.eventually("DONE", "SELECT state FROM task")
	s.calm()
}

// TestWALIsLost: the leader polls until it has a stream again.
func TestWALIsLost(t *testing.T) {
	t.Parallel()
	s := play(t, byWAL)
	s.streaming()
	for range 2 { // the second time is not logged again
		pid := s.get("SELECT active_pid FROM " + slots)
		s.exec("SELECT pg_terminate_backend(" + pid + ")")
		s.eventually("0", "SELECT count(*) FROM "+slots+" AND active_pid = "+pid)
		s.becomes(s.add("input", "SELECT 1"), "DONE")
		s.streaming()
		s.becomes(s.add("input", "SELECT 1"), "DONE")
	}
	if log := s.logged(); strings.Count(log, "write-ahead log; polling") != 1 || s.leads() != 1 {
		t.Errorf("led %d times", s.leads())
	}
}

// TestWakeIsChanged: the objects of one way stay, and do not disturb another way.
func TestWakeIsChanged(t *testing.T) {
	t.Parallel()
	s := furnished(t, deaf)
	for i, wake := range []sql.Wake{sql.WAL, sql.Notify, sql.WAL, sql.Poll, sql.Auto} {
		s.target.Wake = wake
		if wake == sql.Poll {
			s.target.Sleep /= 36_000
		}
		s.serve()
		s.until("leading", func() bool { return s.leads() > i })
		s.becomes(s.add("input", "SELECT 1"), "DONE")
		s.drain()
	}
	if n := s.get("SELECT count(*) FROM " + slots); n != "0" {
		t.Errorf("%s slots are left", n)
	}
}

// TestWakeIsChangedWhileTheTableIsInUse: the existing way serves until the wanted one can be made.
func TestWakeIsChangedWhileTheTableIsInUse(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.drain()
	s.exec("DROP TRIGGER pgtaskd_update ON task")
	writer := s.connect()
	before := len(s.logged())
	if _, err := writer.Exec(t.Context(), "BEGIN; LOCK TABLE task IN ROW EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	s.target.Wake = sql.Notify
	s.serve()
	s.until("leading", func() bool { return s.leads() > 1 })
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	log := s.logged()[before:]
	if !strings.Contains(log, `"wake":"poll","message":"leading"`) || strings.Contains(log, "target failed") ||
		strings.Contains(log, "is not possible") || strings.Count(log, "serving it as it is") != 1 {
		t.Error(log)
	}
	if _, err := writer.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	s.exec("ALTER TABLE task ADD COLUMN mine text") // the leader notices that
	s.eventually("1", "SELECT count(*) FROM pg_trigger WHERE tgname = 'pgtaskd_update'")
	s.becomes(s.add("input", "SELECT 1"), "DONE")
}
