package remote

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
)

// Destination is a database in which remote tasks run.
type Destination struct {
	// Key is equal for destinations that can share sessions. It reveals nothing, and means nothing
	// outside this process.
	Key string
	// Name is a name for logs, without secrets.
	Name string

	config        *pgconn.Config
	needsPassword bool
}

// destination makes one from complete settings. needsPassword: the server must ask for the
// password.
func destination(settings Settings, needsPassword bool) (Destination, error) {
	cfg, err := config(settings)
	if err != nil {
		return Destination{}, err
	}
	place := Settings{}
	for _, keyword := range []string{"host", "hostaddr", "port", "dbname", "user"} {
		place[keyword] = settings[keyword]
	}
	settings = settings.With(Settings{"password": cfg.Password}) // it may come from a file
	key := sha256.Sum256(fmt.Appendf(nil, "%s %t %s", secret, needsPassword, settings.String()))
	return Destination{
		Key:           hex.EncodeToString(key[:]),
		Name:          Settings{}.With(place).String(),
		config:        cfg,
		needsPassword: needsPassword,
	}, nil
}

// Connect opens a session. application is the application_name if the connection string has none.
// limit and error are as in exec.Connect. If the destination needs a password and the server has
// not asked for one, the error is a *Refused.
func (d Destination) Connect(ctx context.Context, application string, limit time.Duration) (*exec.Session, error) {
	cfg := d.config.Copy()
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = application
	}
	cfg.RuntimeParams["client_encoding"] = "UTF8" // of the inputs, whatever the string says
	session, err := exec.Connect(ctx, cfg, limit, false, false)
	if err != nil {
		return nil, Reason(err)
	}
	if d.needsPassword && !session.AskedForPassword {
		session.Close()
		return nil, passwordRequired("A role that is not a superuser can connect only if the server asks for a password.",
			"Change the server's authentication method, or use the name of a connection string in the configuration.")
	}
	return session, nil
}

// secret makes keys from which nobody can guess connection strings.
var secret = rand.Text()
