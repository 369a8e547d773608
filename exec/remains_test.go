package exec

import (
	"strings"
	"testing"
)

// texts are those of statements, up to the first parenthesis.
func texts(statements []*Statement) string {
	all := make([]string, len(statements))
	for i, st := range statements {
		all[i], _, _ = strings.Cut(st.SQL, "(")
	}
	return strings.Join(all, "; ")
}

// TestWhatIsReset: no statement is sent for what cannot be there, and limits go before what takes
// its time.
func TestWhatIsReset(t *testing.T) {
	t.Parallel()
	const begins = "BEGIN ISOLATION LEVEL READ COMMITTED; "
	for _, c := range []struct {
		name string
		left remains
		want string
	}{
		{"clean", remains{clean: true}, begins + "UNLISTEN *; RESET ALL; DISCARD SEQUENCES"},
		{"clean, cursors", remains{clean: true, cursors: true}, begins + "UNLISTEN *; RESET ALL; CLOSE ALL; DISCARD SEQUENCES"},
		{"clean, temporary", remains{clean: true, temporary: true}, begins + "UNLISTEN *; RESET ALL; DISCARD TEMP; DISCARD SEQUENCES"},
		{"seen", remains{}, begins + "SET SESSION AUTHORIZATION DEFAULT; UNLISTEN *; RESET ALL; DISCARD SEQUENCES; " + unlocked.SQL[:strings.Index(unlocked.SQL, "(")]},
		{"unseen", remains{unseen: true, masked: true}, begins + "SET SESSION AUTHORIZATION DEFAULT; RESET ROLE; UNLISTEN *; RESET ALL; DISCARD SEQUENCES; " + unprepared.SQL[:strings.Index(unprepared.SQL, "(")]},
	} {
		if got := texts(c.left.reset(false)); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	for _, c := range []struct {
		left remains
		want string
	}{
		{remains{cursors: true, temporary: true}, strings.TrimSuffix(begins, "; ")},
		{remains{masked: true}, begins + "RESET ROLE"},
		{remains{clean: true}, begins + "SELECT WHERE 1 OPERATOR"},
	} {
		if got := texts(c.left.reset(true)); got != c.want {
			t.Errorf("behind DISCARD ALL: %s", got)
		}
	}
}

// TestWhenASessionIsReset: before a task that wants it new, and, whatever is wanted, when the reset
// before it has been rolled back.
func TestWhenASessionIsReset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		left remains
		keep bool
		want bool
	}{
		{remains{}, false, false},
		{remains{dirty: true}, false, true},
		{remains{dirty: true}, true, false},
		{remains{hard: true}, false, true},
		{remains{hard: true}, true, false},
		{remains{dirty: true, undone: true}, true, true},
		{remains{dirty: true, undone: true, renewed: true}, true, false},
	} {
		if got := c.left.needsReset(c.keep); got != c.want {
			t.Errorf("%+v, keep %t: %t", c.left, c.keep, got)
		}
	}
}

// TestWhatARollbackTakesBack: the reset of a chained transaction, and the limit of its task.
func TestWhatARollbackTakesBack(t *testing.T) {
	t.Parallel()
	limited, other := &Task{Timeout: 1}, &Task{}
	for _, c := range []struct {
		name                       string
		chained, reset             bool
		undone, temporary, timeout bool
	}{
		{"apart", false, false, false, true, false},
		{"apart, reset", false, true, false, false, false},
		{"chained", true, false, false, true, true},
		{"chained, reset", true, true, true, true, true},
	} {
		r := remains{dirty: true, temporary: true}
		r.prepared(limited, false, false)
		r.prepared(other, c.chained, c.reset)
		r.fell()
		if r.undone != c.undone || r.temporary != c.temporary || r.timeoutSet != c.timeout {
			t.Errorf("%s: %+v", c.name, r)
		}
		if r.chained || r.chainedReset {
			t.Errorf("%s: it could be rolled back twice", c.name)
		}
	}
}
