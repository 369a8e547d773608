package run

import (
	"strings"
	"testing"
	"time"
)

func TestOthers(t *testing.T) {
	t.Parallel()
	var o others
	a, b, long := "a", "b", strings.Repeat("x", comparedLongest+1)
	if !o.than(a).IsZero() {
		t.Error("something has ended")
	}
	o.ended(&a, false)
	o.ended(&a, false)
	if !o.than(a).IsZero() || o.than(b).IsZero() {
		t.Error("a: ", o.than(a), o.than(b))
	}
	for _, other := range []*string{&b, &long, nil} {
		began := time.Now()
		o.ended(other, false)
		o.ended(&a, false)
		o.ended(&a, false)
		if at := o.than(a); at.Before(began) {
			t.Error("another has ended since", began, "but", at)
		}
		if other != nil && o.than(*other).Before(o.than(a)) {
			t.Error("a has ended behind it")
		}
	}
	o.ended(&long, false)
	if o.than(long).IsZero() || time.Until(o.than(long)) > 0 {
		t.Error("one that is too long to be compared is no other")
	}
	o.ended(&a, true)
	o.ended(&a, false)
	if o.than(a).Before(time.Now().Add(lostFor / 2)) {
		t.Error("what is lost of sight may go on")
	}
}
