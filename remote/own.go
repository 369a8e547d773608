package remote

import "github.com/jackc/pgx/v5/pgconn"

// Own returns the configuration of a connection of pgtaskd's own: settings that s leaves out come
// from where libpq finds them (see Complete). The error is a *Refused.
func Own(s Settings) (*pgconn.Config, error) {
	completed, err := Complete(s)
	if err != nil {
		return nil, err
	}
	return config(completed)
}
