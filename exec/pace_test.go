package exec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgtaskd/routine"
)

// flood is a server that says the same again and again, up to most bytes of all floods together.
type flood struct {
	says []byte
	at   int
	sent *atomic.Int64
	most int64
}

func (f *flood) Read(p []byte) (n int, err error) {
	for n < len(p) {
		k := copy(p[n:], f.says[f.at:])
		n, f.at = n+k, (f.at+k)%len(f.says)
	}
	if f.sent.Add(int64(n)) > f.most {
		return 0, errEnough
	}
	return n, nil
}

var errEnough = errors.New("enough")

// drained reads until lasts has passed.
func (f *flood) drained(lasts time.Duration) error {
	b := &bound{from: f, greeted: true, output: NewOutput(Format{}, 1<<16)}
	p := make([]byte, 8<<10)
	for began := time.Now(); time.Since(began) < lasts; {
		if _, err := b.Read(p); err != nil {
			return err
		}
	}
	return nil
}

// TestAFloodOfMessagesHasItsPace: what many servers send that is of no use is read at the pace of
// one, however short or long the messages are.
func TestAFloodOfMessagesHasItsPace(t *testing.T) {
	// Not parallel: it uses up what all connections of the process share.
	long := append([]byte{'N'}, binary.BigEndian.AppendUint32(nil, 100<<10)...)
	for name, c := range map[string]struct {
		says []byte
		cost int64
	}{
		"notices":          {[]byte{'N', 0, 0, 0, 5, 0}, 1 + saidEach},
		"settings":         {[]byte{'S', 0, 0, 0, 8, 'a', 0, 'b', 0}, 4 + saidEach},
		"ends":             {[]byte{'C', 0, 0, 0, 5, 0}, 1 + saidEach},
		"long notices":     {append(long, make([]byte, 100<<10-4)...), 100 << 10},
		"nothing but acks": {[]byte{'2', 0, 0, 0, 4}, saidEach},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const lasts = time.Second
				most := (int64(lasts.Seconds())*saidRate + saidMost) / c.cost * int64(len(c.says))
				sent := new(atomic.Int64)
				all := routine.New(t.Context())
				for range 20 {
					all.Go(func() {
						if err := (&flood{c.says, 0, sent, 2 * most}).drained(lasts); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				if sent.Load() < most/2 {
					t.Errorf("%d of %d bytes", sent.Load(), most)
				}
			})
		})
	}
}

// TestRowsHaveNoPace, nor the notices of many tasks that have few of them.
func TestRowsHaveNoPace(t *testing.T) {
	row, notice := []byte{'D', 0, 0, 0, 6, 0, 0}, []byte{'N', 0, 0, 0, 5, 0}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := (&flood{row, 0, new(atomic.Int64), 16 << 20}).drained(time.Hour); !errors.Is(err, errEnough) {
			t.Error(err)
		}
		few := bytes.Repeat(notice, 900)
		b := &bound{greeted: true}
		for range 1000 {
			b.task(NewOutput(Format{}, 1<<16))
			b.from = bytes.NewReader(few)
			for p := make([]byte, 100); ; {
				if _, err := b.Read(p); err != nil {
					break
				}
			}
			b.task(nil)
		}
		if waited := time.Since(began); waited > 0 {
			t.Error("they have waited", waited)
		}
	})
}
