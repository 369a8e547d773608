package pool

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/remote"
	"pgtaskd/sql"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

// Promises finds out what remotes promise, once for each. Any goroutine may use it.
type Promises struct{ known sync.Map } // of promise, by the key of the destination

type promise struct {
	obstacle string
	err      error
}

// Obstacle returns why the effects of tasks on a named remote do not happen exactly once, and what
// would change that; "": they do. The error says that the remote cannot be reached.
func (p *Promises) Obstacle(ctx context.Context, t *target.Target, f *control.Facts, name string) (string, error) {
	rules := remote.Rules{Base: f.Base, Superuser: f.Superuser, Named: t.Remotes}
	destination, err := rules.Resolve(name)
	if err != nil {
		return "", err
	}
	known, _ := p.known.LoadOrStore(destination.Key, sync.OnceValue(func() (found promise) {
		found.obstacle, found.err = obstacle(ctx, destination, t.ControlName())
		return found
	}))
	found := known.(func() promise)()
	return found.obstacle, found.err
}

func obstacle(ctx context.Context, to remote.Destination, application string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, remote.ConnectLimit)
	defer cancel()
	session, err := to.Connect(ctx, application, SessionLimit)
	if err != nil {
		return "", err
	}
	defer session.Close()
	witness, err := exec.NewWitness(ctx, session)
	switch {
	case err != nil:
	case witness.Place == (exec.Place{}):
		return "it is a standby", nil
	default:
		if err = witness.Fence(ctx, fenceMost); err == nil {
			_, err = witness.Ask(ctx, 3)
		}
	}
	var answer *pgconn.PgError
	switch {
	case err == nil:
		return "", nil
	case errors.Is(err, exec.ErrPooled):
		return "a pooler is on the way; give a connection string that goes to the server itself", nil
	case errors.As(err, &answer) && answer.Code == "42501":
		return answer.Message + grantOf(answer.Message, session.User), nil
	case errors.As(err, &answer):
		return answer.Message, nil
	}
	return "", err
}

// grantOf returns the statement that lets a role call the function that an error names.
func grantOf(message, role string) string {
	for _, function := range exec.Needed {
		name, _, _ := strings.Cut(function, "(")
		if strings.HasSuffix(message, " "+name) {
			return "; as a superuser there: GRANT EXECUTE ON FUNCTION pg_catalog." + function + " TO " + sql.Quoted(role)
		}
	}
	return ""
}
