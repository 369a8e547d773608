package work

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestNewcomersTakeTurns: whoever adds many has no more places than are left for others, who come
// next; and all that were taken are looked at before others are.
func TestNewcomersTakeTurns(t *testing.T) {
	t.Parallel()
	f := newSuccessors()
	meet := func(turn int32, from, to int64) {
		for id := from; id <= to; id++ {
			f.meet(&unplanned{id: id, turn: turn, long: true})
		}
	}
	meet(1, 1, 2*freshLong)
	meet(1, 1, 2*freshLong) // a later look finds them again
	n := &f.fresh[longAfter]
	if n.count != freshLong/2 || !n.leftOut || n.roomAgain() {
		t.Fatalf("%d of one are known: %v, %v", n.count, n.leftOut, n.roomAgain())
	}
	meet(2, -3, -1)
	meet(3, -9, -9)
	if some := n.take(); len(some) != longMost || !slices.Equal(some[:7], []int64{1, -3, -9, 2, -2, 3, -1}) {
		t.Error(some)
	}
	n.under = []int64{3, -2} // for which there was no time
	if some := n.take(); !slices.Equal(some, []int64{3, -2}) {
		t.Error(some)
	}
	for n.waits() {
		if n.take(); n.roomAgain() && n.count > freshLong/4 || !n.roomAgain() && n.count < freshLong/4 {
			t.Fatal("looks for those that were left out where there are", n.count)
		}
		n.under = nil
	}
	if f.begins(); len(n.of)+len(n.turns)+n.count > 0 || f.roomAgain() {
		t.Error("some are left:", len(n.of), len(n.turns), n.count)
	}
}

// TestTurnsAreOfRolesOrGroups: of roles where each task has one.
func TestTurnsAreOfRolesOrGroups(t *testing.T) {
	t.Parallel()
	for _, roles := range []bool{false, true} {
		s := prepared(t, func(target *Target) { target.Inserter = roles })
		l := s.installed()
		s.exec(`INSERT INTO task (input, after, "group") SELECT '', ARRAY(SELECT generate_series(-n, -1)), n % 2 FROM unnest(ARRAY[1, 100, 10, 1000]) AS u (n)`)
		s.exec("INSERT INTO task (input, after, \"group\") VALUES ('', array_fill(-1, '{10000}'), '0')") // which is stored in few bytes
		s.exec("INSERT INTO task (input, after, cron) VALUES ('', '{-1}', '@daily')")
		batch := &pgx.Batch{}
		l.queueUnplanned(batch)
		if err := l.sendBatch(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		var long, follows []bool
		turns := map[int32]bool{}
		for _, u := range l.unplanned {
			if long, follows = append(long, u.long), append(follows, u.follows); u.follows {
				turns[u.turn] = true
			}
		}
		if !slices.Equal(long, []bool{false, false, false, true, true, false}) || !slices.Equal(follows, []bool{true, true, true, true, true, false}) {
			t.Error(long, follows)
		}
		if want := map[bool]int{false: 2, true: 1}[roles]; len(turns) != want {
			t.Errorf("%d turns, want %d (by role: %v)", len(turns), want, roles)
		}
	}
}
