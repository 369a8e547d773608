package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"pgtaskd/sql"
)

// made is the object's build, as its comment has it: the version of the schema, and a hash of the
// statements that have made it.
func (n names) made(s step) string {
	sum := sha256.Sum256([]byte(n.fill(s.sql)))
	return versionText + " " + hex.EncodeToString(sum[:4])
}

// besideSQL are the statements that make the object.
func (n names) besideSQL(s step) string {
	return n.fill(strings.ReplaceAll(s.sql, ":made", n.made(s)))
}

// besideStep makes an object that is not there, and makes one of another build again, where the
// role may. An object that is not ours stays.
func (m *missing) besideStep(s step) {
	there, ours := m.besides.find(s)
	switch {
	case there == nil && (m.oid == 0 || m.besides.makes):
	case ours && versionOf(there.Comment) <= Version && !strings.Contains(there.Comment, m.names.made(s)):
	default:
		return
	}
	change := m.change(s.makes+" "+sql.BesideName(m.table, s.name), m.names.besideSQL(s))
	change.Optional, change.Outdated, change.beside = true, there != nil, true
}
