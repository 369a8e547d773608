package target

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// nameLimit is the longest application_name that the server keeps.
const nameLimit = 63

// SessionName is the application_name of a session that runs a task of that group.
func (t Target) SessionName(group string) string {
	return shortened("pg_task " + t.Schema + " " + t.Table + " " + group)
}

// SessionPrefix begins the application_name of every session of the target in its own database, and
// maybe of one with a similar name.
func (t Target) SessionPrefix() string {
	plain := Printable("pg_task " + t.Schema + " " + t.Table + " ")
	return plain[:min(len(plain), nameLimit-hashLength)]
}

// ControlName is the application_name of the sessions by which controllers lead the target, or
// stand by.
func (t Target) ControlName() string { return shortened("pgtaskd " + t.Schema + " " + t.Table) }

// hashLength is that of what stands for the rest of a name that is too long.
const hashLength = 9

// shortened keeps the beginning of a name that is too long, and a hash of the whole.
func shortened(name string) string {
	plain := Printable(name)
	if len(name) <= nameLimit && plain == name {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return plain[:min(len(plain), nameLimit-hashLength)] + fmt.Sprintf("~%x", sum[:4])
}

// Printable leaves only ASCII, as the server would, so that names are the same there and here.
func Printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
}
