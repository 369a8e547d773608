package edit

import (
	"net/http"

	"pgtaskd/sql"
	"pgtaskd/web/rows"
)

// CanRecord returns a *Refused if there is no table of acts, which acts on many tasks need.
func CanRecord(b *rows.Table) error {
	if b.Has("act") {
		return nil
	}
	return Refuse(http.StatusConflict, "An act on many tasks needs the table %s, which is missing or closed to the serving role. Let the owner of %s run the output of pgtaskd schema --config FILE, then try again.",
		sql.Beside(b.Name, "act"), b.Name)
}
