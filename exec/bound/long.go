package bound

import (
	"bytes"
	"encoding/binary"

	"pgtaskd/exec/text"
)

// A longText keeps this many bytes of an error or notice. This is more than a row shows, so that
// the row marks the text as cut.
const (
	startKept = text.Limit + 16<<10
	endKept   = 1 << 10
)

// longText keeps the start and the end of an error or notice. The server sends the fields that a
// row shows first, and its own routine that raised the error last.
type longText struct{ start, end []byte }

func (l *longText) take(p []byte) {
	n := min(len(p), startKept-len(l.start))
	l.start, p = append(l.start, p[:n]...), p[n:]
	l.end = append(l.end, p[max(0, len(p)-endKept):]...)
	l.end = l.end[max(0, len(l.end)-endKept):]
}

// message returns a short message in place of the long one. Its end begins with a whole field.
func (l *longText) message(kind byte) []byte {
	if len(l.end) > 0 {
		_, whole, _ := bytes.Cut(l.end, []byte{0})
		l.start = append(append(append(bytes.TrimSuffix(l.start, []byte{0}), 0), whole...), 0)
	}
	return encoded(kind, l.start)
}

// valuesMost is the maximum number of values in a row. PostgreSQL sends no more; further values are
// dropped.
const valuesMost = 1664

// longRow passes the values of a long row to the output.
type longRow struct {
	output *text.Output
	number []byte // the bytes so far of the count of values, or of the next value's length
	column int    // of the value under way or next; -1 before the count
	values int    // count of the row's values
	left   int    // bytes of the value under way still to come
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

// grown records that n bytes of the value under way have come.
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
	r.output.EndRow()
}

// encoded returns a message in the form of the wire.
func encoded(kind byte, body []byte) []byte {
	m := append(make([]byte, 0, 5+len(body)), kind)
	return append(binary.BigEndian.AppendUint32(m, uint32(4+len(body))), body...)
}
