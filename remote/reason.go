package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// reason is an error of connecting, on one line, without the tries that say nothing.
type reason struct {
	text  string
	tries []error
}

func (r *reason) Error() string   { return r.text }
func (r *reason) Unwrap() []error { return r.tries }

// Reason returns the error of a connection that could not be opened, in words that show the cause:
// of several tries only those that name one. Other errors come back as they are.
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
	for i, try := range tries {
		text := try.Error()
		if known[text] || refusesTLS(text) && triedOtherwise(tries, i) {
			continue
		}
		known[text] = true
		texts, kept = append(texts, text), append(kept, try)
	}
	place := fmt.Sprintf("failed to connect to `user=%s database=%s`: ", failed.Config.User, failed.Config.Database)
	return &reason{text: place + strings.ReplaceAll(strings.Join(texts, "; "), "\n", " "), tries: kept}
}

// refusesTLS tells the error of a server that has no TLS. pgconn has no other sign for it.
func refusesTLS(text string) bool {
	return strings.HasSuffix(text, ": tls error: server refused TLS connection")
}

// triedOtherwise tells whether the same address was tried without TLS as well.
func triedOtherwise(tries []error, one int) bool {
	address, _, _ := strings.Cut(tries[one].Error(), ": tls error: ")
	for _, try := range tries {
		if text := try.Error(); strings.HasPrefix(text, address+": ") && !refusesTLS(text) {
			return true
		}
	}
	return false
}

// Unsuited tells that a server was reached that is not as target_session_attrs asks for.
func Unsuited(err error) bool {
	for _, kind := range []error{
		pgconn.ErrReadOnlyConnection, pgconn.ErrReadWriteConnection, pgconn.ErrPrimaryConnection, pgconn.ErrStandbyConnection,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// guard makes an error of a panic: pgconn relies on a server to answer the questions that
// target_session_attrs leads to with a row.
func guard(validate pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	if validate == nil {
		return nil
	}
	return func(ctx context.Context, conn *pgconn.PgConn) (err error) {
		defer func() {
			if recover() != nil {
				err = errors.New("the server does not say what target_session_attrs asks for")
			}
		}()
		return validate(ctx, conn)
	}
}
