package change

import (
	"cmp"
	"context"
	"slices"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/work/hold"
)

// Bisect changes rows together. If the table refuses that, it changes some at a time, in their order, so
// that one odd row holds up no other; refused sees to a row that is refused alone. The first error that
// is no refusal ends it.
func Bisect[T any](rows []T, change func([]T) error, refused func(T, error) error) error {
	err := change(rows)
	switch {
	case err == nil || !fault.Of(err).OfRow():
		return err
	case len(rows) == 1:
		return refused(rows[0], err)
	}
	for part := range slices.Chunk(rows, max(len(rows)/hold.Parts, 1)) {
		if err := Bisect(part, change, refused); err != nil {
			return err
		}
	}
	return nil
}

// Each does something to rows with these ids. A row that refuses it is left as it is, for a while.
func (c *Changer) Each(ids []int64, do func([]int64) error) error {
	return Bisect(ids, do, func(id int64, err error) error {
		class := fault.Of(err)
		if class.Passing() && !class.Lacks() {
			return nil // it is tried again
		}
		if c.Holds.PutAfter(id, hold.Refuses, 0); !class.Lacks() {
			c.Log.Error().Err(err).Int64("id", id).Msg("table refuses a change of a task; row left unchanged")
		}
		return nil
	})
}

// EachWithWords is Each for changes that write words of ours into the rows: a row that refuses them is
// changed without (true). If another transaction is in the way of one, it is held. left are those for
// which a duty has no time.
func (c *Changer) EachWithWords(ctx context.Context, ids []int64, do func([]int64, bool) error) (left []int64, err error) {
	s, began := &c.sizer, time.Now()
	ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool {
		until := c.Holds.Until(id)
		return !until.IsZero() && (s.Rests() || c.Holds.Waits(id))
	})
	slices.SortStableFunc(ids, func(a, b int64) int { // so that each has its turn
		return c.Holds.Until(a).Compare(c.Holds.Until(b))
	})
	for len(ids) > 0 && !s.Late(began) {
		some := ids[:s.Batch(len(ids))]
		if err := c.Each(some, func(ids []int64) error {
			if s.Late(began) {
				left = append(left, ids...)
				return nil
			}
			return c.withWords(ctx, ids, do)
		}); err != nil {
			return nil, err
		}
		ids = ids[len(some):]
	}
	return append(left, ids...), nil
}

// withWords changes rows together; one alone without words where it refuses them.
func (c *Changer) withWords(ctx context.Context, ids []int64, do func([]int64, bool) error) error {
	tried := time.Now()
	err := do(ids, false)
	class, alone := fault.Of(err), len(ids) == 1
	if alone && class.OfRow() && class != fault.Slow && !class.Passing() {
		err = do(ids, true)
		class = fault.Of(err)
	}
	if c.sizer.Took(len(ids), tried, class); alone && class.Passing() {
		c.PutOff(ids[0])
	}
	if alone && class == fault.Locked {
		return cmp.Or(c.TellOfLock(ctx, tried.Add(-c.Holds.Wait(ids[0])), ids[0], nil), err)
	}
	return err
}

// PutOff has tasks wait, longer each time, whose rows somebody has locked or changed. It leaves alone
// what is known, or has refused a change recently.
func (c *Changer) PutOff(ids ...int64) {
	for _, id := range ids {
		if !c.Known(id) && !c.Holds.Refuses(id) {
			c.Holds.Put(id, hold.Missing)
		}
	}
}

// PutOffOthers does so with those that were tried and are not among the changed.
func (c *Changer) PutOffOthers(tried []int64, changed []Changed) {
	for _, id := range tried {
		if !slices.ContainsFunc(changed, func(one Changed) bool { return one.ID == id }) {
			c.PutOff(id)
		}
	}
}
