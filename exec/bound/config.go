package bound

import (
	"context"
	"io"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Own limits the memory that our own connections with this configuration take for what the server
// sends. Errors, notices and the data of COPY are cut. Rows are passed on whole: our queries limit
// them.
func Own(cfg *pgconn.Config) {
	bounded(cfg, func(b *Reader) { b.whole = true })
}

// Tasks does the same for connections on which tasks run, in the target's own database or
// elsewhere, and calls tell with the reader of each. trusted: the session is the serving role's,
// whose password is its own. Others wait for their proof of a password, until ctx ends.
func Tasks(ctx context.Context, cfg *pgconn.Config, own, trusted bool, tell func(*Reader)) {
	bounded(cfg, func(b *Reader) {
		if b.pace.own = own; !trusted {
			b.login.waits = ctx
		}
		tell(b)
	})
}

// bounded puts a Reader into each connection that is made with the configuration.
func bounded(cfg *pgconn.Config, tell func(*Reader)) {
	build := cfg.BuildFrontend
	cfg.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		b := &Reader{from: r}
		tell(b)
		return build(b, w)
	}
}

// CopyData waits for the next piece of data of a COPY that the server sends, such as a stream of
// replication; it is valid until the next call. The error is io.EOF when the server ends the COPY,
// and a *pgconn.PgError when it fails there. When ctx ends sooner the connection remains as it is,
// and CopyData can be called again.
func CopyData(ctx context.Context, conn *pgconn.PgConn) ([]byte, error) {
	for {
		message, err := conn.ReceiveMessage(ctx)
		if err != nil {
			return nil, err
		}
		switch m := message.(type) {
		case *pgproto3.CopyData:
			return m.Data, nil
		case *pgproto3.CopyDone:
			return nil, io.EOF
		case *pgproto3.ErrorResponse:
			return nil, pgconn.ErrorResponseToPgError(m)
		}
	}
}
