package smoke

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPGQWithoutItsDaemon follows docs/recipes/pgq.md with the real extension, which
// server/install.sh pgq installs. The controller is killed in the middle of a batch, and later the
// server crashes: each event has its effect once.
func TestPGQWithoutItsDaemon(t *testing.T) {
	t.Parallel()
	own := newServer(t)
	dsn := own.DSN("postgres")
	u := connect(t, dsn)
	if u.value("SELECT count(*) FROM pg_available_extensions WHERE name = 'pgq'") == "0" {
		t.Skip("pgq is not installed: run server/install.sh pgq")
	}
	p := run(t, "run", dsn)
	p.says(t, `"leading"`, 1)
	blocks := sqlOf(t, "../docs/recipes/pgq.md")
	for _, block := range blocks[:len(blocks)-1] {
		u.exec(block)
	}
	// A slow event waits for a lock of the test.
	u.exec(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.account = 'slow' THEN PERFORM pg_advisory_xact_lock_shared(7); END IF; RETURN NEW; END$$;
		CREATE TRIGGER hold BEFORE INSERT ON bill FOR EACH ROW EXECUTE FUNCTION hold()`)
	inserted := 0
	insert := func(n int, account string) {
		inserted += n
		u.exec(fmt.Sprintf(`SELECT pgq.insert_event('orders', 'new', '{"account": "%s", "amount": 1}') FROM generate_series(1, %d)`, account, n))
	}
	// middle waits until a batch is half done.
	middle := func() {
		u.exec("SELECT pg_advisory_lock(7)")
		insert(200, "anna")
		insert(1, "slow")
		insert(200, "bob")
		u.until("EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND NOT granted)")
	}
	all := func() {
		u.until(fmt.Sprintf("SELECT count(*) >= %d FROM bill", inserted))
		u.is("SELECT count(*) || ' ' || count(DISTINCT event) FROM bill", fmt.Sprintf("%d %[1]d", inserted))
		if t.Failed() {
			t.FailNow()
		}
	}
	u.exec(blocks[len(blocks)-1])
	inserted++
	all()

	middle()
	p.Kill()
	p = run(t, "run", dsn)
	p.says(t, `"leading"`, 1)
	u.exec("SELECT pg_advisory_unlock(7)")
	all()

	middle()
	if err := own.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := own.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	u = connect(t, dsn)
	all()

	// A failed event is tried again, and given up later; the others are not affected.
	u.exec(`SELECT pgq.insert_event('orders', 'new', '{"account": "carl", "amount": -1}')`)
	insert(1, "carl")
	all()
	for range 5 {
		u.until("EXISTS (SELECT FROM pgq.retry_queue)")
		u.exec("UPDATE pgq.retry_queue SET ev_retry_after = now(); UPDATE task SET plan = now() WHERE key = 'pgq retry' AND state = 'PLAN'")
		u.until("NOT EXISTS (SELECT FROM pgq.retry_queue WHERE ev_retry_after <= now())")
	}
	u.until("SELECT count(*) = 1 FROM unbilled")
	all()

	// The tables are rotated.
	u.exec("UPDATE pgq.queue SET queue_rotation_period = '1 s', queue_switch_time = now() - interval '1 hour'; UPDATE task SET plan = now() WHERE key IN ('pgq rotate 1', 'pgq rotate 2') AND state = 'PLAN'")
	u.until("SELECT queue_cur_table = 1 FROM pgq.queue")
	u.until("SELECT queue_switch_step2 IS NOT NULL FROM pgq.queue")
	u.is("SELECT count(*) FROM task WHERE state IN ('FAIL', 'GONE')", "0")
}

// sqlOf returns the blocks of SQL in a document.
func sqlOf(t *testing.T, path string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range strings.Split(string(text), "```sql\n")[1:] {
		block, _, _ := strings.Cut(after, "\n```")
		blocks = append(blocks, block)
	}
	return blocks
}
