package exec

import (
	"hash/maphash"
	"slices"
	"strings"
)

// Traits is what can be told of an input without a server. A trait that is in doubt is set: the
// price is a task that is marked before it starts, while one that is missed costs a second run.
type Traits struct {
	// Empty: nothing but blanks, comments and semicolons.
	Empty bool
	// Control: a statement ends the transaction it runs in (COMMIT, END, ROLLBACK but not ROLLBACK
	// TO, ABORT, PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED).
	Control bool
	// NoTransaction: a statement does not run inside a transaction block (VACUUM, CREATE DATABASE,
	// CONCURRENTLY …).
	NoTransaction bool
	// Isolation: an isolation level is named.
	Isolation bool
	// Modes: the mode of the transaction may be chosen (SET TRANSACTION, BEGIN READ WRITE), which
	// some allow only before the first snapshot.
	Modes bool
	// Stdin: COPY may ask for data; no other query may wait behind such an input.
	Stdin bool
	// Rollbacks: how many statements return to a savepoint; their tag is that of a ROLLBACK.
	Rollbacks int
	// Notifies: it sends notifications, which leave no mark in the transaction until it commits.
	Notifies bool
	// Calls: a procedure is called, which may end the transaction.
	Calls bool
	// Outside: something leaves the transaction by itself (COPY to a file or program, dblink, HTTP,
	// sequences …).
	Outside bool
	// Reads: all statements are queries (SELECT, VALUES, TABLE, WITH, SHOW). What they call may
	// write all the same.
	Reads bool
	// Inert: nothing in it can be made by anybody but the server's makers, so that it does nothing
	// to its session.
	Inert bool
	// Shape is the same for inputs that differ in nothing but numbers, strings, blanks and
	// comments, while the process lasts.
	Shape uint64
}

// Atomic reports whether the input can run inside a transaction and leaves that transaction open.
func (t Traits) Atomic() bool { return !t.Control && !t.NoTransaction }

// Examine finds the traits of an input in time linear in its length.
//
// It looks at words outside strings, comments and quoted names, and into the body of DO. What an
// input calls (a function or procedure, a trigger, a foreign table) it cannot see.
func Examine(input string) Traits {
	e := examiner{lexer: lexer{input: input}, traits: Traits{Empty: true, Reads: true, Inert: true}}
	e.shape.SetSeed(shapes)
	e.run()
	e.traits.Reads = e.traits.Reads && !e.traits.Empty
	e.traits.Shape = e.shape.Sum64()
	return e.traits
}

var shapes = maphash.MakeSeed()

// The functions whose effect does not fall with the transaction that calls them: other sessions and
// servers (dblink, background workers, HTTP, cloud services, mail), files, sequences, replication
// slots and the server itself. Schemas are not looked at.
var (
	outsideNames = map[string]bool{
		"nextval": true, "setval": true, "lo_export": true, "query_export_to_s3": true,
		"http": true, "http_get": true, "http_head": true, "http_post": true, "http_put": true,
		"http_patch": true, "http_delete": true,
		"pg_terminate_backend": true, "pg_cancel_backend": true, "pg_reload_conf": true, "pg_rotate_logfile": true,
		"pg_promote": true, "pg_switch_wal": true, "pg_wal_replay_pause": true, "pg_wal_replay_resume": true,
		"pg_backup_start": true, "pg_backup_stop": true, "pg_start_backup": true, "pg_stop_backup": true,
		"pg_drop_replication_slot": true, "pg_sync_replication_slots": true,
	}
	outsidePrefixes = []string{
		"dblink", "pg_background_", "pg_file_", "pg_create_", "pg_copy_", "pg_logical_", "pg_replication_",
		"aws_", "utl_",
	}
)

func outsideFunction(name string) bool {
	name = strings.ToLower(name)
	return outsideNames[name] || slices.ContainsFunc(outsidePrefixes, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}

// inert tells whether this token, behind those before it, may belong to an input that calls nothing
// that anybody else has made: constants, lists of them, and names for columns. Operators, types,
// functions and relations may all be somebody's.
func (e *examiner) inert(t token) bool {
	named := e.previous.kind == tokenWord && strings.EqualFold(e.previous.text, "as")
	switch t.kind {
	case tokenWord:
		return named || constantWord(t.text)
	case tokenName:
		return named
	case tokenOpen:
		return !named && (e.previous.kind != tokenWord && e.previous.kind != tokenName || constantWord(e.previous.text))
	case tokenString:
		return e.previous.kind != tokenWord && e.previous.kind != tokenName || constantWord(e.previous.text)
	case tokenOther:
		return strings.Trim(t.text, "0123456789., )\t\n\r") == ""
	}
	return t.kind == tokenEnd || t.kind == tokenSemicolon
}

func constantWord(word string) bool {
	switch strings.ToLower(word) {
	case "select", "values", "as", "null", "true", "false":
		return true
	}
	return false
}
