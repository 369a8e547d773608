package wake

import (
	"testing"

	"github.com/jackc/pglogrepl"
)

// TestDecoder: only transactions with inserts count.
func TestDecoder(t *testing.T) {
	t.Parallel()
	var d decoder
	begin := func(xid byte) []byte {
		return append(append([]byte{'w'}, make([]byte, 24)...), append([]byte{'B'}, append(make([]byte, 19), xid)...)...)
	}
	other := func(kind byte) []byte { return append(append([]byte{'w'}, make([]byte, 24)...), kind) }
	for _, message := range [][]byte{
		begin(1), other('I'), other('I'), other('C'),
		begin(2), other('R'), other('C'),
		append([]byte{'k'}, make([]byte, 17)...),
		begin(3), other('I'), other('C'),
	} {
		if _, _, err := d.decode(message); err != nil {
			t.Fatal(err)
		}
	}
	if len(d.committed) != 2 || d.committed[0] != 1 || d.committed[1] != 3 {
		t.Errorf("decoded %v", d.committed)
	}
	alive := append([]byte{'k', 0, 0, 0, 0, 0, 0, 1, 0}, append(make([]byte, 8), 1)...)
	if until, asked, err := d.decode(alive); until != pglogrepl.LSN(256) || !asked || err != nil {
		t.Errorf("got %s, %v, %v", until, asked, err)
	}
	for _, message := range [][]byte{{'k', 1}, {'w', 1}, append(begin(1)[:26], 'x')} {
		if _, _, err := d.decode(message); err == nil {
			t.Errorf("%q was taken", message)
		}
	}
}

// FuzzDecoder: the decoder decodes any message, or returns an error.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte{}, []byte{'k'})
	f.Add(append([]byte{'w'}, make([]byte, 24)...), append(append([]byte{'w'}, make([]byte, 24)...), 'B'))
	f.Add(append(append([]byte{'w'}, make([]byte, 24)...), 'I'), append(append([]byte{'w'}, make([]byte, 24)...), 'C'))
	f.Fuzz(func(t *testing.T, one, other []byte) {
		var d decoder
		for _, data := range [][]byte{one, other} {
			_, _, _ = d.decode(data)
		}
		if len(d.committed) > 2 {
			t.Errorf("%d transactions of two messages", len(d.committed))
		}
	})
}
