package remote

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server/servertest"
)

// failed connects by TCP to a server without TLS; by default, sslmode tries TLS first.
func failed(t *testing.T, more string) error {
	t.Helper()
	settings, err := Parse(servertest.Server(t).TCP("postgres") + " sslmode=prefer " + more)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := Own(settings)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgconn.ConnectConfig(t.Context(), cfg)
	if err == nil {
		_ = conn.Close(t.Context())
		t.Fatal("it connects: ", more)
	}
	return err
}

func TestReasonIsTheErrorThatMatters(t *testing.T) {
	t.Parallel()
	const refused = "server refused TLS connection"
	if err := failed(t, "dbname=nowhere"); !strings.Contains(err.Error(), refused) {
		t.Fatal("TLS is not tried first: ", err)
	}
	for more, want := range map[string]struct {
		text string
		is   error
	}{
		"dbname=nowhere":               {text: `database "nowhere" does not exist`},
		"target_session_attrs=standby": {text: "server is not in hot standby mode", is: pgconn.ErrPrimaryConnection},
		"host=127.0.0.1 port=1":        {text: "connection refused"},
		"host=127.0.0.1,::1 port=1":    {text: "connection refused"},
		"sslmode=require":              {text: refused},
		"user=nobody sslmode=allow":    {text: `password authentication failed for user "nobody"`},
		"hostaddr='' host=/nowhere/at": {text: "no such file or directory"},
		"hostaddr='' host=no.invalid":  {text: "lookup no.invalid"},
	} {
		err := Reason(failed(t, more))
		text := err.Error()
		if !strings.Contains(text, want.text) || want.text != refused && strings.Contains(text, refused) || strings.Contains(text, "\n") {
			t.Errorf("%s: %s", more, text)
		}
		if want.is != nil && !errors.Is(err, want.is) {
			t.Errorf("%s: %#v", more, err)
		}
		if first := strings.Index(text, want.text); first != strings.LastIndex(text, want.text) && !strings.Contains(more, ",") {
			t.Errorf("%s is said twice: %s", more, text)
		}
	}
	if err := Reason(failed(t, "dbname=nowhere")); !strings.HasPrefix(err.Error(), "failed to connect to `user=postgres database=nowhere`: 127.0.0.1:") {
		t.Error(err)
	}
	other := errors.New("other")
	if Reason(other) != other || Reason(nil) != nil {
		t.Error("other errors are changed")
	}
}
