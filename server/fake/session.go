package fake

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
)

type session struct {
	conn  net.Conn
	wrong Wrong
	ctx   context.Context

	status byte              // of the transaction
	known  map[string]string // prepared statements
	bound  string            // the statement to execute
	before []Message         // first messages of its answer
	passes bool              // skip all messages up to the next Sync
}

// Codes in place of the protocol's version in a startup packet.
const (
	cancelCode = 80877102
	sslCode    = 80877103
)

var errOver = errors.New("the connection is over")

func (s *session) serve() error {
	for {
		body, err := s.read()
		switch {
		case err != nil || len(body) < lengthSize:
			return err
		case binary.BigEndian.Uint32(body) == cancelCode:
			return s.say(Cancel, nil)
		case binary.BigEndian.Uint32(body) == sslCode:
			if err := s.refuseEncryption(); err != nil {
				return err
			}
		default:
			if err := s.authenticate(); err != nil {
				return err
			}
			return s.talk()
		}
	}
}

// refuseEncryption answers with a single byte, which is not a message.
func (s *session) refuseEncryption() error {
	answer := s.wrong(Encryption, nil)
	if answer.Bytes == nil {
		answer.Bytes = []byte("N")
	}
	return s.give(answer)
}

// talk answers messages until the client goes.
func (s *session) talk() error {
	kind := []byte{0}
	for {
		if _, err := io.ReadFull(s.conn, kind); err != nil {
			return err
		}
		body, err := s.read()
		if err != nil {
			return err
		}
		if err := s.answer(kind[0], body); err != nil {
			return err
		}
	}
}

// read reads a length and the bytes that follow it.
func (s *session) read() ([]byte, error) {
	header := make([]byte, lengthSize)
	if _, err := io.ReadFull(s.conn, header); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(header)
	if length < lengthSize || length > 1<<20 {
		return nil, errors.New("no message of the protocol")
	}
	body := make([]byte, length-lengthSize)
	_, err := io.ReadFull(s.conn, body)
	return body, err
}

func (s *session) answer(kind byte, body []byte) error {
	if s.passes && kind != 'S' && kind != 'X' {
		return nil
	}
	fields := bytes.Split(body, []byte{0})
	switch kind {
	case 'Q':
		return s.simple(string(fields[0]))
	case 'P':
		s.known[string(fields[0])] = string(fields[1])
		s.before = append(s.before, Message{Kind: '1'})
	case 'B':
		s.bound = s.known[string(fields[1])]
		s.before = append(s.before, Message{Kind: '2'})
	case 'C':
		s.before = append(s.before, Message{Kind: '3'})
	case 'E':
		exchange, answer := s.run(s.bound)
		answer = append(s.before, answer...)
		s.before = nil
		return s.say(exchange, answer)
	case 'S':
		s.passes = false
		answer := append(s.before, Ready(s.status))
		s.before = nil
		return s.say(Sync, answer)
	case 'X':
		return errOver
	}
	return nil
}

func (s *session) simple(sql string) error {
	exchange, right := s.run(sql)
	err := s.say(exchange, append(right, Ready(s.status)))
	if err != nil || !s.passes {
		return err
	}
	s.passes = false
	_, err = s.conn.Write(Ready(s.status).Bytes())
	return err
}

// say sends the test's wrong answer, if it has one, else the right one.
func (s *session) say(exchange Exchange, right []Message) error {
	return s.give(s.wrong(exchange, right))
}

func (s *session) give(answer Answer) error {
	if _, err := s.conn.Write(answer.Bytes); err != nil {
		return err
	}
	if answer.Failed {
		s.passes = true
		if s.status == 'T' {
			s.status = 'E'
		}
	}
	if answer.Silent {
		_, _ = io.Copy(io.Discard, s.conn) // until the client gives up
		return errOver
	}
	if answer.Over {
		return errOver
	}
	return nil
}
