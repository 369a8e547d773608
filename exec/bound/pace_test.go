package bound

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/text"
	"pgtaskd/routine"
)

// flood is a server that repeats a message until a time. All floods together send at most most
// bytes.
type flood struct {
	until time.Time
	says  []byte
	at    int
	sent  *atomic.Int64
	most  int64
}

func (f *flood) Read(p []byte) (n int, err error) {
	if time.Now().After(f.until) {
		return 0, io.EOF
	}
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

// drained reads the whole flood.
func (f *flood) drained() error {
	b := &Reader{from: f, greeted: true, output: text.NewOutput(text.Format{}, 1<<16)}
	_, err := io.Copy(io.Discard, b)
	return err
}

// TestAFloodOfMessagesHasItsPace: all servers share one pace for useless messages of any length.
func TestAFloodOfMessagesHasItsPace(t *testing.T) {
	// Not parallel: the test uses up the pace that all connections of the process share.
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
		"empty rows":       {[]byte{'D', 0, 0, 0, 6, 0, 0}, saidEach},
		"empty COPY":       {[]byte{'d', 0, 0, 0, 4}, saidEach},
		"rows of NULLs":    {append([]byte{'D', 0, 0, 0x19, 0x06, 0x06, 0x40}, bytes.Repeat([]byte{255}, 6400)...), saidEach + 6402/rowShare},
		"too many NULLs":   {append([]byte{'D', 0, 1, 0xd4, 0xc6, 0x75, 0x30}, bytes.Repeat([]byte{255}, 120000)...), 120002 / rowShare},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const lasts = time.Second
				most := (int64(lasts.Seconds())*saidRate + saidMost) / c.cost * int64(len(c.says))
				sent := new(atomic.Int64)
				all := routine.New(t.Context())
				for range 20 {
					all.Go(func() {
						if err := (&flood{time.Now().Add(lasts), c.says, 0, sent, 2 * most}).drained(); err != nil {
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

// TestWhatComesByteForByteHasItsPace: each read has a cost, even for a single byte.
func TestWhatComesByteForByteHasItsPace(t *testing.T) {
	// Not parallel: see above.
	synctest.Test(t, func(t *testing.T) {
		const size = 200_000
		b := &Reader{from: iotest.OneByteReader(bytes.NewReader(make([]byte, size))), greeted: true, output: text.NewOutput(text.Format{}, 1<<16)}
		b.left = size // bytes of one message
		began := time.Now()
		if _, err := io.Copy(io.Discard, b); err != nil {
			t.Error(err)
		}
		least := time.Second * (size*saidRead - saidFree - saidMost) / saidRate
		if took := time.Since(began); took < least/2 {
			t.Errorf("%d bytes took %v, not %v", size, took, least)
		}
	})
}

// TestOutputThatIsTakenBackCostsNothing: the output takes a long row back when the row turns out to
// be over the limit.
func TestOutputThatIsTakenBackCostsNothing(t *testing.T) {
	// Not parallel: see above.
	synctest.Test(t, func(t *testing.T) {
		output := text.NewOutput(text.Format{}, 8<<20)
		b := &Reader{from: iotest.OneByteReader(bytes.NewReader(make([]byte, 4))), greeted: true, output: output}
		b.left = 4
		began := time.Now()
		output.StartRow(0)
		for _, more := range []int{8 << 20, 1, 0} {
			output.Piece(bytes.Repeat([]byte("x"), more))
			if _, err := b.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it has taken %v", took)
		}
	})
}

// TestRowsThatAreKeptHaveNoPace: nor have COPY data and the notices of many tasks with few notices
// each.
func TestRowsThatAreKeptHaveNoPace(t *testing.T) {
	row, line, notice := []byte{'D', 0, 0, 0, 11, 0, 1, 0, 0, 0, 1, '1'}, []byte{'d', 0, 0, 0, 6, '1', '\n'}, []byte{'N', 0, 0, 0, 5, 0}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		for _, says := range [][]byte{row, line} {
			output := text.NewOutput(text.Format{}, 0)
			b := &Reader{from: &flood{began.Add(time.Second), says, 0, new(atomic.Int64), 4 << 20}, greeted: true, output: output}
			front := pgproto3.NewFrontend(b, nil)
			for {
				m, err := front.Receive()
				if err != nil {
					break
				}
				switch m := m.(type) {
				case *pgproto3.DataRow:
					output.Row(m.Values)
				case *pgproto3.CopyData:
					output.Copy(m.Data)
				}
			}
			if output.Len() < 1<<19 {
				t.Error(output.Len(), "bytes are kept")
			}
		}
		few := bytes.Repeat(notice, 900)
		b := &Reader{greeted: true}
		for range 1000 {
			b.Task(text.NewOutput(text.Format{}, 1<<16))
			b.from = bytes.NewReader(few)
			if _, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{b}, make([]byte, 100)); err != nil {
				t.Error(err)
			}
			b.Task(nil)
		}
		if waited := time.Since(began); waited > 0 {
			t.Error("they have waited", waited)
		}
	})
}

// TestAFloodOfRemotesKeepsNoOwnSessionWaiting: messages of remotes do not use up the pace of
// sessions in the targets' own databases.
func TestAFloodOfRemotesKeepsNoOwnSessionWaiting(t *testing.T) {
	// Not parallel: the test uses up the pace of remotes.
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		for range 60 * saidRate / saidMost {
			taken := ofRemotes.ReserveN(began, saidMost) // uses up one minute of the pace
			defer taken.CancelAt(began)
		}
		cfg, err := pgconn.ParseConfig("host=127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		var reader *Reader
		Tasks(t.Context(), cfg, true, true, func(r *Reader) { reader = r })
		notice := []byte{'N', 0, 0, 0, 5, 0}
		cfg.BuildFrontend(bytes.NewReader(bytes.Repeat(notice, 2*saidFree/(saidEach+1))), io.Discard)
		reader.Greeted()
		if _, err := io.Copy(io.Discard, reader); err != nil {
			t.Error(err)
		}
		if waited := time.Since(began); waited > 0 || ofRemotes.Tokens() >= 0 {
			t.Error("it has waited", waited)
		}
	})
}
