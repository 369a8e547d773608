package remote

import (
	"context"
	"errors"
	"net"
	"testing"
)

// TestAnAddressThatHasJustFailedIsNotDialledAgain: pgx would do so, without TLS.
func TestAnAddressThatHasJustFailedIsNotDialledAgain(t *testing.T) {
	t.Parallel()
	dialled, refused := "", errors.New("refused")
	dial := dialOnce(func(_ context.Context, _, address string) (net.Conn, error) {
		dialled += address
		return nil, refused
	})
	for _, address := range []string{"a", "a", "b", "b", "a"} {
		if _, err := dial(t.Context(), "tcp", address); !errors.Is(err, refused) {
			t.Error(err)
		}
	}
	if dialled != "aba" {
		t.Error("dialled: ", dialled)
	}
}
