package proxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// message is one message of the protocol's version 3, unchanged.
type message struct {
	kind   byte // Startup or CancelRequest for a startup packet, which has no type byte
	header int  // length of the part before the body
	raw    []byte
}

func (m message) body() []byte { return m.raw[m.header:] }

// lengthSize is the size of the length in front of each body; the length counts itself.
const lengthSize = 4

// maxMessage is the longest message that the server itself accepts.
const maxMessage = 1 << 30

var errFraming = errors.New("no message of the protocol")

// cancelCode is in the place of the protocol's version in a cancel request.
const cancelCode = 80877102

// readStartup reads a packet without a type byte. Its body begins with the code.
func readStartup(from io.Reader) (message, error) {
	m, err := read(from, nil)
	if err == nil && len(m.body()) < lengthSize {
		err = errFraming
	}
	if err != nil {
		return m, err
	}
	m.kind = Startup
	if binary.BigEndian.Uint32(m.body()) == cancelCode {
		m.kind = CancelRequest
	}
	return m, nil
}

// readMessage reads a message with a type byte. The error is io.EOF only if no message follows.
func readMessage(from io.Reader) (message, error) {
	kind := make([]byte, 1)
	if _, err := io.ReadFull(from, kind); err != nil {
		return message{}, err
	}
	m, err := read(from, kind)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	m.kind = kind[0]
	return m, err
}

// read reads a length and a body, after the part of the message that was read before.
func read(from io.Reader, before []byte) (message, error) {
	header := append(before, make([]byte, lengthSize)...)
	if _, err := io.ReadFull(from, header[len(before):]); err != nil {
		return message{}, err
	}
	length := binary.BigEndian.Uint32(header[len(before):])
	if length < lengthSize || length > maxMessage {
		return message{}, fmt.Errorf("%w: length %d", errFraming, length)
	}
	raw := append(header, make([]byte, length-lengthSize)...)
	if _, err := io.ReadFull(from, raw[len(header):]); err != nil {
		return message{}, fmt.Errorf("in a message: %w", err)
	}
	return message{header: len(header), raw: raw}, nil
}
