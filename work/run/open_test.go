package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgtaskd/routine"
	"pgtaskd/work/pool"
)

// TestPanicOfConnection: the task FAILs at once and shows nothing of the panic.
func TestPanicOfConnection(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("connecting: %w", &routine.Panic{Value: "secret", Stack: []byte("secret")})
	failure := runnerOf(t, nil).shared.unreachable(t.Context(), &Task{}, time.Now(), err)
	if !pool.Final(err) || failure.SQLState != "XX000" || strings.Contains(failure.Text, "secret") {
		t.Errorf("final: %v, %s", pool.Final(err), failure.Text)
	}
	if pool.Final(&pool.NoSession{Cause: err}) {
		t.Error("the target's own server has FAILed a task")
	}
}
