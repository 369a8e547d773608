package bound

import (
	"bytes"
	"encoding/binary"

	"pgtaskd/exec/text"
)

// Messages that are taken in pieces.

// What is kept of the fields of an error or notice, in bytes: of the texts together more than a row
// shows, so that it shows that they are cut; of each of the others as much as a name needs. A
// server sends each field once, and knows fewer than fieldsMost; fields after these are ignored.
const (
	fieldsKept = text.Limit + 16<<10
	nameKept   = 256
	fieldsMost = 32
)

// longFields keeps of an error or notice what a row shows. Servers send first what a row shows
// first.
type longFields struct {
	kept  []byte
	count int  // of the fields that have begun
	texts int  // bytes that may still be kept of texts
	kind  byte // of the field under way, 0: between two
	room  int  // bytes that may still be kept of it
}

func (f *longFields) take(p []byte) {
	for len(p) > 0 && (f.kind != 0 || f.count < fieldsMost) {
		if f.kind == 0 {
			f.begin(p[0])
			p = p[1:]
			continue
		}
		n := bytes.IndexByte(p, 0)
		if n < 0 {
			f.keep(p)
			return
		}
		f.keep(p[:n])
		f.end()
		p = p[n+1:]
	}
}

func (f *longFields) begin(kind byte) {
	if kind == 0 { // the end of the message
		f.count = fieldsMost
		return
	}
	f.count++
	f.kind, f.room = kind, nameKept
	if isText(kind) {
		f.room = min(text.Limit+1, f.texts)
	}
	f.kept = append(f.kept, kind)
}

func (f *longFields) keep(p []byte) {
	p = p[:min(len(p), f.room)]
	f.room -= len(p)
	if isText(f.kind) {
		f.texts -= len(p)
	}
	f.kept = append(f.kept, p...)
}

func (f *longFields) end() {
	f.kind = 0
	f.kept = append(f.kept, 0)
}

// message is the short message in place of the long one.
func (f *longFields) message(kind byte) []byte {
	if f.kind != 0 {
		f.end()
	}
	return encoded(kind, append(f.kept, 0))
}

// isText tells the fields that may have any length: message, detail, hint, query and context.
func isText(kind byte) bool {
	switch kind {
	case 'M', 'D', 'H', 'q', 'W':
		return true
	}
	return false
}

// valuesMost is how many values a row can have. No server sends more; values after these are
// dropped.
const valuesMost = 1664

// longRow hands the values of a row to the output.
type longRow struct {
	output *text.Output
	number [4]byte // the count of the values, or the length of the next one
	known  int     // bytes of it that have come
	begun  bool    // the count has come
	column int     // of the value that comes next
	values int
	left   int  // bytes of the value under way that are still to come
	inside bool // there is one
}

func (r *longRow) take(p []byte) {
	for len(p) > 0 {
		switch {
		case r.inside:
			n := min(len(p), r.left)
			r.output.Piece(p[:n])
			r.left -= n
			p = p[n:]
			r.endValue()
		case r.begun && r.column == r.values:
			return
		default:
			r.number[r.known] = p[0]
			r.known++
			p = p[1:]
			r.read()
		}
	}
}

// read takes up a number that has come whole.
func (r *longRow) read() {
	switch {
	case !r.begun && r.known == 2:
		r.begun, r.known = true, 0
		r.values = min(valuesMost, int(binary.BigEndian.Uint16(r.number[:])))
	case r.known == 4:
		r.known = 0
		r.left = int(int32(binary.BigEndian.Uint32(r.number[:])))
		r.inside = true
		r.output.StartValue(r.column, r.left < 0)
		r.left = max(r.left, 0)
		r.endValue()
	}
}

func (r *longRow) endValue() {
	if r.left > 0 {
		return
	}
	r.output.EndValue()
	r.inside = false
	r.column++
}

func (r *longRow) end() {
	if r.inside {
		r.output.EndValue()
	}
}

// encoded is a message as the server sends it.
func encoded(kind byte, body []byte) []byte {
	m := append(make([]byte, 0, 5+len(body)), kind)
	return append(binary.BigEndian.AppendUint32(m, uint32(4+len(body))), body...)
}
