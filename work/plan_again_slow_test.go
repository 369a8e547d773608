//go:build slow

package work

import (
	"fmt"
	"testing"
)

// TestATaskSetToPLANAtItsEndStartsAtOnce: the leader does not yet know that its end is written. The
// task starts before the next scan of all rows.
func TestATaskSetToPLANAtItsEndStartsAtOnce(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect ()")
	id := s.add(`input, "delete"`, "INSERT INTO effect DEFAULT VALUES", false)
	s.exec(fmt.Sprintf(`DO $$DECLARE n int := 0; BEGIN
		WHILE n < 400 LOOP
			UPDATE task SET state = 'PLAN' WHERE id = %d AND state = 'DONE';
			n := n + CASE WHEN FOUND THEN 1 ELSE 0 END;
			COMMIT;
		END LOOP; END$$`, id))
	s.eventually("401 DONE", "SELECT concat((SELECT count(*) FROM effect), ' ', state) FROM task WHERE id = $1", id)
}
