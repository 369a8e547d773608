package exec

import (
	"context"
	"io"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

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
