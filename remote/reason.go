package remote

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// reason is an error of connecting in one line, without the tries that explain nothing.
type reason struct {
	text  string
	tries []error
}

func (r *reason) Error() string   { return r.text }
func (r *reason) Unwrap() []error { return r.tries }

// Reason makes the error of a failed connection show its cause. It leaves out repeated tries, and a
// server's refusal of TLS if another try went on without TLS. Other errors come back unchanged.
func Reason(err error) error {
	var failed *pgconn.ConnectError
	if !errors.As(err, &failed) {
		return err
	}
	tries := []error{errors.Unwrap(failed)}
	if joined, ok := tries[0].(interface{ Unwrap() []error }); ok {
		tries = joined.Unwrap()
	}
	var texts []string
	var kept []error
	known := map[string]bool{}
	for _, try := range tries {
		text := once(try.Error())
		address, withTLS := strings.CutSuffix(text, refusesTLS)
		otherwise := func(other error) bool {
			return strings.HasPrefix(other.Error(), address+": ") && !strings.HasSuffix(other.Error(), refusesTLS)
		}
		if known[text] || withTLS && slices.ContainsFunc(tries, otherwise) {
			continue
		}
		known[text] = true
		texts, kept = append(texts, text), append(kept, try)
	}
	place := fmt.Sprintf("failed to connect to `user=%s database=%s`: ", failed.Config.User, failed.Config.Database)
	return &reason{text: place + strings.Join(texts, "; "), tries: kept}
}

// once joins the lines of a text, without those that end as one before.
func once(text string) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !slices.ContainsFunc(kept, func(before string) bool { return strings.HasSuffix(before, line) }) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, " ")
}

// refusesTLS ends the error of a server without TLS, after its address. pgconn marks it in no other
// way.
const refusesTLS = ": tls error: server refused TLS connection"

// Unsuited reports whether the server is not of the kind that target_session_attrs requires.
func Unsuited(err error) bool {
	return errors.Is(err, pgconn.ErrReadOnlyConnection) || errors.Is(err, pgconn.ErrReadWriteConnection) ||
		errors.Is(err, pgconn.ErrPrimaryConnection) || errors.Is(err, pgconn.ErrStandbyConnection)
}

// Innermost returns the text of the innermost error, such as "connection refused": the outer errors
// may name users and hosts.
func Innermost(err error) string {
	for {
		var next error
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			next = e.Unwrap()
		case interface{ Unwrap() []error }:
			if all := e.Unwrap(); len(all) > 0 {
				next = all[0]
			}
		}
		if next == nil {
			return err.Error()
		}
		err = next
	}
}
