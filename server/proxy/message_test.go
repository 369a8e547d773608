package proxy_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// TestVerdicts: an INSERT that is cut before the proxy forwards it leaves nothing; one that is
// forwarded first leaves its row.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	p, _ := open(t)
	database := servertest.Database(t)
	dsn, direct := p.DSN(database), servertest.Connect(t, database)
	if _, err := direct.Exec(t.Context(), "CREATE TABLE verdict (who text)"); err != nil {
		t.Fatal(err)
	}
	p.Watch(func(_ int, fromClient bool, kind byte, body []byte) proxy.Verdict {
		switch {
		case kind == proxy.CancelRequest: // pgconn sends it to end a statement whose connection it has lost
			return proxy.Cut
		case !fromClient || kind != 'Q':
			return proxy.Pass
		case strings.Contains(string(body), "'before'"):
			return proxy.Cut
		case strings.Contains(string(body), "'behind'"):
			return proxy.PassThenCut
		}
		return proxy.Pass
	})
	for _, who := range []string{"before", "behind", "never"} {
		conn := servertest.Connect(t, dsn)
		_, err := conn.PgConn().Exec(t.Context(), "INSERT INTO verdict VALUES ('"+who+"')").ReadAll()
		if who != "behind" && (err == nil) != (who == "never") { // its answer may come before the cut
			t.Errorf("%s: %v", who, err)
		}
	}
	for rows := ""; rows != "behind never"; {
		if err := direct.QueryRow(t.Context(), "SELECT coalesce(string_agg(who, ' ' ORDER BY who), '') FROM verdict").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(rows, "before") {
			t.Fatal("got ", rows)
		}
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	p, dsn := open(t)
	var mu sync.Mutex
	client, back := "", ""
	terminated := make(chan struct{})
	p.Watch(func(_ int, fromClient bool, kind byte, body []byte) proxy.Verdict {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case kind == proxy.Startup:
			client += "^"
			if !strings.Contains(string(body), "user\x00postgres\x00") {
				t.Errorf("startup packet %q", body)
			}
		case fromClient:
			client += string(kind)
			if kind == 'X' {
				close(terminated)
			}
		case kind != 'S': // parameters
			back += string(kind)
		}
		return proxy.Pass
	})
	conn := servertest.Connect(t, dsn)
	if _, err := conn.PgConn().Exec(t.Context(), "SELECT 1").ReadAll(); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-terminated
	p.Stop()
	if client != "^QX" || back != "RKZTDCZ" {
		t.Errorf("got %q, %q", client, back)
	}
}

func TestNoMessage(t *testing.T) {
	t.Parallel()
	_, dsn := open(t)
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", portOf(dsn[strings.LastIndex(dsn, "port="):])))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
}
