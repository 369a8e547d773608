package exec

import (
	"encoding/binary"
	"io"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// WatchPassword makes a configuration tell, once a connection has been made with it, whether the
// server asked for the password. Where it did not, the connection rests on who the controller is,
// not on what the task knows.
//
// The configuration must serve one connection only, and asked be called from ValidateConnect on, in
// the goroutine that connects. Of several attempts (hosts, with TLS and without) it speaks of the
// last one.
func WatchPassword(cfg *pgconn.Config) (asked func() bool) {
	build := cfg.BuildFrontend
	var last *sniffer
	cfg.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		last = &sniffer{from: r}
		return build(last, w)
	}
	return func() bool { return last != nil && last.asked }
}

// sniffer reads along with what a server sends until authentication is over. It stands above TLS,
// where pgconn reads.
type sniffer struct {
	from  io.Reader
	asked bool // for a password, in whatever form

	over bool   // authentication, or our understanding of it
	seen []byte // the message that has not come to its end
}

// Read hands on what the connection gives.
func (s *sniffer) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	if !s.over {
		s.watch(p[:n])
	}
	return n, err
}

// watch follows the messages, which may come in pieces of any size.
func (s *sniffer) watch(p []byte) {
	const header = 1 + 4    // type, and length without the type
	const longest = 1 << 16 // far beyond anything that is sent before authentication is over

	s.seen = append(s.seen, p...)
	for !s.over && len(s.seen) >= header {
		end := 1 + int64(binary.BigEndian.Uint32(s.seen[1:]))
		if end < header || end > longest {
			s.over = true // and pgconn will say what is wrong
			break
		}
		if int64(len(s.seen)) < end {
			return
		}
		s.message(s.seen[0], s.seen[header:end])
		s.seen = s.seen[end:]
	}
	if s.over {
		s.seen = nil
	}
}

// message looks at one message from the server. Notices and the negotiation of the protocol's
// version may come before and between those of authentication.
func (s *sniffer) message(kind byte, body []byte) {
	const authentication, refusal = 'R', 'E'
	switch {
	case kind == refusal:
		s.over = true
	case kind == authentication && len(body) >= 4:
		switch binary.BigEndian.Uint32(body) {
		case pgproto3.AuthTypeCleartextPassword, pgproto3.AuthTypeMD5Password, pgproto3.AuthTypeSASL:
			s.asked = true
		case pgproto3.AuthTypeOk:
			s.over = true
		}
	}
}
