package bound

import (
	"context"
	"io"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Own bounds the memory that connections of our own with the configuration take for what the server
// sends: errors and notices are cut, and so is the data of COPY. Rows are passed on whole, as the
// queries of such a connection bound them.
func Own(cfg *pgconn.Config) {
	bounded(cfg, func(b *Reader) { b.whole, b.afford = true, affordable })
}

// Tasks bounds connections on which tasks run, in the target's own database or elsewhere, and tells
// of the reader of each. trusted is one of the serving role's, whose password is its own; another
// waits until ctx ends for its proof to be afforded.
func Tasks(ctx context.Context, cfg *pgconn.Config, own, trusted bool, tell func(*Reader)) {
	bounded(cfg, func(b *Reader) {
		if b.own, b.afford = own, affordable; !trusted {
			b.afford = affords(ctx)
		}
		tell(b)
	})
}

// bounded puts a bound into each connection that is made with the configuration, and tells of it.
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
