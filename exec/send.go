package exec

import (
	"encoding/binary"
	"unsafe"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A long text goes to the server from where it is: pgproto3 would copy it into what it queues, and
// what is queued grows by copies.

// queueMost is the longest text that is queued, in bytes.
const queueMost = 64 << 10

// write sends what is queued, and then the pieces. flush tells of an error.
func (w *wire) write(pieces ...[]byte) {
	if w.unsent == nil {
		w.unsent = w.front.Flush()
	}
	for _, piece := range pieces {
		if w.unsent == nil {
			w.written = true
			_, w.unsent = w.conn.Conn().Write(piece)
		}
	}
}

func (w *wire) sendLongQuery(sql string) {
	head := binary.BigEndian.AppendUint32([]byte{'Q'}, uint32(4+len(sql)+1))
	w.write(head, bytesOf(sql), []byte{0})
}

// sendLongBind does what SendBind does.
func (w *wire) sendLongBind(name string, formats []int16, args [][]byte) {
	b := binary.BigEndian
	head := append([]byte{0}, name...) // the portal has no name
	head = b.AppendUint16(append(head, 0), uint16(len(formats)))
	for _, format := range formats {
		head = b.AppendUint16(head, uint16(format))
	}
	head = b.AppendUint16(head, uint16(len(args)))
	tail := b.AppendUint16([]byte{0, 1}, uint16(pgproto3.BinaryFormat))
	length := 4 + len(head) + len(tail)
	for _, arg := range args {
		length += 4 + len(arg)
	}
	head = append(b.AppendUint32([]byte{'B'}, uint32(length)), head...)
	for _, arg := range args {
		if arg == nil {
			head = b.AppendUint32(head, 1<<32-1)
			continue
		}
		head = b.AppendUint32(head, uint32(len(arg)))
		if len(arg) < textsKept {
			head = append(head, arg...)
			continue
		}
		w.write(head, arg)
		head = nil
	}
	w.write(append(head, tail...))
}

// bytesOf is a text as bytes that are only read.
func bytesOf(text string) []byte {
	if text == "" {
		return []byte{}
	}
	return unsafe.Slice(unsafe.StringData(text), len(text))
}
