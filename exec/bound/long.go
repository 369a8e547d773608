package bound

import (
	"bytes"
	"encoding/binary"

	"pgtaskd/exec/text"
)

// Messages that are taken in pieces.

// What is kept of an error or notice, in bytes: more than a row shows, so that it shows that the
// text is cut.
const (
	startKept = text.Limit + 16<<10
	endKept   = 1 << 10
)

// longText keeps the start and the end of an error or notice. A server sends first what a row shows
// first, and last which routine of its own has met the error.
type longText struct{ start, end []byte }

func (l *longText) take(p []byte) {
	n := min(len(p), startKept-len(l.start))
	l.start, p = append(l.start, p[:n]...), p[n:]
	l.end = append(l.end, p[max(0, len(p)-endKept):]...)
	l.end = l.end[max(0, len(l.end)-endKept):]
}

// message is the short message in place of the long one: the end begins with a whole field.
func (l *longText) message(kind byte) []byte {
	if len(l.end) > 0 {
		_, whole, _ := bytes.Cut(l.end, []byte{0})
		l.start = append(append(append(bytes.TrimSuffix(l.start, []byte{0}), 0), whole...), 0)
	}
	return encoded(kind, l.start)
}

// valuesMost is how many values a row can have. No server sends more; values after these are
// dropped.
const valuesMost = 1664

// longRow hands the values of a row to the output.
type longRow struct {
	output *text.Output
	number []byte // as far as it has come: the count of the values, or the length of the next one
	column int    // of the value under way or next; -1: the count comes first
	values int
	left   int // bytes of the value under way that are still to come
}

func (r *longRow) take(p []byte) {
	for len(p) > 0 && r.column < r.values {
		if r.left > 0 {
			n := min(len(p), r.left)
			r.output.Piece(p[:n])
			p = p[n:]
			r.grown(n)
			continue
		}
		r.number, p = append(r.number, p[0]), p[1:]
		switch {
		case r.column < 0 && len(r.number) == 2:
			r.values = min(valuesMost, int(binary.BigEndian.Uint16(r.number)))
			r.column, r.number = 0, r.number[:0]
		case len(r.number) == 4:
			length := int(int32(binary.BigEndian.Uint32(r.number)))
			r.output.StartValue(r.column, length < 0)
			r.left, r.number = max(length, 0), r.number[:0]
			r.grown(0)
		}
	}
}

// grown notes that n bytes of the value under way have come.
func (r *longRow) grown(n int) {
	if r.left -= n; r.left == 0 {
		r.output.EndValue()
		r.column++
	}
}

func (r *longRow) end() {
	if r.left > 0 {
		r.output.EndValue()
	}
}

// encoded is a message as the server sends it.
func encoded(kind byte, body []byte) []byte {
	m := append(make([]byte, 0, 5+len(body)), kind)
	return append(binary.BigEndian.AppendUint32(m, uint32(4+len(body))), body...)
}
