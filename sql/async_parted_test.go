package sql

import (
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// parted is a partitioned table whose async trigger bob may fire.
func parted(t *testing.T) *bobs {
	t.Helper()
	b := newBobs(t, forEachStatement)
	execute(t, b.owner, "CREATE TABLE parted (id bigserial, plan timestamptz NOT NULL DEFAULT statement_timestamp(), input text NOT NULL) PARTITION BY RANGE (plan); CREATE TABLE early PARTITION OF parted DEFAULT")
	install(t, b.owner, Table{"public", "parted"}, nil)
	execute(t, b.owner, "DROP TRIGGER later ON bob.stock; CREATE TRIGGER later AFTER INSERT ON bob.stock FOR EACH ROW EXECUTE FUNCTION parted_async('SELECT 1', 'group=a-%s', 'a'); INSERT INTO bob.stock VALUES (1)")
	return b
}

// TestATriggerIsNotFiredIntoAPartitionOfAStrangers, whose triggers would run as the owner of the whole.
func TestATriggerIsNotFiredIntoAPartitionOfAStrangers(t *testing.T) {
	t.Parallel()
	b := parted(t)
	execute(t, b.owner, "ALTER TABLE early OWNER TO "+b.role+"; SET ROLE "+b.role+"; CREATE TRIGGER evil BEFORE INSERT ON public.early FOR EACH ROW EXECUTE FUNCTION bob.fire(); RESET ROLE")
	for _, begin := range []string{"BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ"} {
		execute(t, b.conn, begin)
		_, err := b.conn.Exec(t.Context(), "INSERT INTO bob.stock VALUES (2)")
		b.none(err, `a partition of table "public"."parted" belongs to role `+b.role)
		execute(t, b.conn, "ROLLBACK")
	}
}

// TestATriggerWaitsForAPartitionBeforeItLooks: it comes to be a stranger's, with a trigger of theirs,
// while they have the look wait for it.
func TestATriggerWaitsForAPartitionBeforeItLooks(t *testing.T) {
	t.Parallel()
	b := parted(t)
	letsGo := b.holds("public.early")
	given := b.gives("early")
	inserted := b.inserts()
	waiting(t, b.owner, b.conn)
	letsGo()
	given()
	b.none(<-inserted, `a partition of table "public"."parted" belongs to role `+b.role)
}

// gives has a partition that is locked given to bob, who makes a trigger there. Both wait; what it
// returns waits for them.
func (b *bobs) gives(partition string) (given func()) {
	b.Helper()
	giver, taker := connect(b.T, b.dsn), b.another()
	var others sync.WaitGroup
	for _, w := range []struct {
		conn      *pgx.Conn
		statement string
	}{{giver, "ALTER TABLE " + partition + " OWNER TO " + b.role}, {taker, "CREATE TRIGGER evil BEFORE INSERT ON public." + partition + " FOR EACH ROW EXECUTE FUNCTION bob.fire()"}} {
		others.Go(func() {
			if _, err := w.conn.Exec(b.Context(), w.statement); err != nil {
				b.Error(err)
			}
		})
		waiting(b.T, b.owner, w.conn)
	}
	return others.Wait
}

// inserts fires the trigger, and tells of the error later.
func (b *bobs) inserts() (result chan error) {
	result = make(chan error, 1)
	go func() {
		_, err := b.conn.Exec(b.Context(), "INSERT INTO bob.stock VALUES (2)")
		result <- err
	}()
	return result
}

// TestATriggerWaitsForAPartitionThatComesMeanwhile, while it waits for another one.
func TestATriggerWaitsForAPartitionThatComesMeanwhile(t *testing.T) {
	t.Parallel()
	b := parted(t)
	execute(t, b.owner, "TRUNCATE early; ALTER TABLE parted DETACH PARTITION early; ALTER TABLE parted ATTACH PARTITION early FOR VALUES FROM ('1999-01-01') TO ('2000-01-01')")
	letsGo := b.holds("public.early")
	inserted := b.inserts()
	waiting(t, b.owner, b.conn)
	execute(t, b.owner, "CREATE TABLE late (LIKE parted INCLUDING ALL); ALTER TABLE parted ATTACH PARTITION late FOR VALUES FROM ('2000-01-01') TO ('infinity')")
	letsGoOn := b.holds("public.late")
	given := b.gives("late")
	letsGo()
	servertest.Wait(t, time.Minute, "a wait for the new partition", func() bool {
		return value(t, b.owner, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'late'::regclass") == "3"
	})
	letsGoOn()
	given()
	b.none(<-inserted, `a partition of table "public"."parted" belongs to role `+b.role)
}

// TestATriggerNeedsNoRightToLookAtTheSequence of the ids: to draw from it is enough.
func TestATriggerNeedsNoRightToLookAtTheSequence(t *testing.T) {
	t.Parallel()
	b := newBobs(t, forEachStatement)
	execute(t, b.owner, "CREATE SCHEMA his AUTHORIZATION "+b.role)
	execute(t, b.conn, `CREATE TABLE his.task (id bigserial, plan timestamptz NOT NULL DEFAULT statement_timestamp(), input text NOT NULL) PARTITION BY RANGE (plan);
		CREATE TABLE his.early PARTITION OF his.task DEFAULT; CREATE TABLE his.stock (a int4)`)
	install(t, b.conn, Table{"his", "task"}, nil)
	execute(t, b.conn, `CREATE TRIGGER later AFTER INSERT ON his.stock FOR EACH ROW EXECUTE FUNCTION his.task_async('SELECT 1', 'group=a-%s', 'a');
		REVOKE USAGE, SELECT ON SEQUENCE his.task_id_seq FROM `+b.role+"; INSERT INTO his.stock VALUES (3)")
	equal(t, "inserted", value(t, b.owner, `SELECT count(*) FROM his.task WHERE "group" = 'a-3'`), "1")
}

// TestATriggerWaitsForItsIDBeforeItLooks: a partition of a stranger's comes below one that has
// partitions itself, which the INSERT looks at when it has drawn its id, for which they have it wait.
func TestATriggerWaitsForItsIDBeforeItLooks(t *testing.T) {
	t.Parallel()
	b := parted(t)
	execute(t, b.owner, `TRUNCATE early; ALTER TABLE parted DETACH PARTITION early; CREATE TABLE middle PARTITION OF parted FOR VALUES FROM (MINVALUE) TO (MAXVALUE) PARTITION BY LIST ("group");
		CREATE TABLE known PARTITION OF middle FOR VALUES IN ('a-1'); CREATE TABLE late (LIKE known INCLUDING ALL); ALTER TABLE late OWNER TO `+b.role+`;
		SET ROLE `+b.role+"; CREATE TRIGGER evil BEFORE INSERT ON public.late FOR EACH ROW EXECUTE FUNCTION bob.fire(); RESET ROLE")
	drawn, ruled := b.another(), b.another()
	execute(t, drawn, "BEGIN; INSERT INTO bob.stock VALUES (1)")
	refused := make(chan error, 1)
	go func() {
		_, err := ruled.Exec(b.Context(), "CREATE RULE r AS ON INSERT TO public.parted_id_seq DO NOTHING")
		refused <- err
	}()
	waiting(t, b.owner, ruled)
	inserted := b.inserts()
	waiting(t, b.owner, b.conn)
	execute(t, b.owner, "ALTER TABLE middle ATTACH PARTITION late FOR VALUES IN ('a-2')")
	execute(t, drawn, "COMMIT")
	if err := <-refused; err == nil {
		t.Error("a rule was made")
	}
	b.none(<-inserted, `a partition of table "public"."parted" belongs to role `+b.role)
}
