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

// sql are the statements of a step.
func (n names) sql(s step) string {
	return n.fill(strings.ReplaceAll(s.sql, ":made", n.made(s)))
}

// outdated tells by the comment of an object that another build has made it, but no later version.
func (m *missing) outdated(s step, comment string) bool {
	return versionOf(comment) <= Version && !strings.Contains(comment, m.names.made(s))
}

// besideStep makes an object that is not there, and makes one of another build again, where the
// role may. An object that is not ours stays.
func (m *missing) besideStep(s step) {
	there, ours := m.besides.find(s)
	switch {
	case there == nil && (m.oid == 0 || m.besides.makes):
	case ours && m.outdated(s, there.Comment):
	default:
		return
	}
	change := m.add(s, s.makes+" "+sql.BesideName(m.table, s.name))
	change.Optional, change.Outdated, change.beside = true, there != nil, true
}
