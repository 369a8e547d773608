package exec

import "slices"

type (
	keyword  uint8
	keywords uint64 // a set of them
)

// The keywords that matter here. All others are none.
const (
	wordNone keyword = iota
	wordAbort
	wordAll
	wordAlter
	wordAtomic
	wordBegin
	wordCall
	wordCluster
	wordCommit
	wordConcurrently
	wordCopy
	wordCreate
	wordDatabase
	wordDeallocate
	wordDeferrable
	wordDiscard
	wordDo
	wordDrop
	wordEnd
	wordFrom
	wordIsolation
	wordNotify
	wordPrepare
	wordPrepared
	wordProgram
	wordRead
	wordReindex
	wordRepeatable
	wordRollback
	wordSchema
	wordSerializable
	wordStdin
	wordStdout
	wordSubscription
	wordSystem
	wordTablespace
	wordTimeout
	wordTo
	wordTransaction
	wordVacuum
	wordWork
)

var keywordNames = map[string]keyword{
	"abort": wordAbort, "all": wordAll, "alter": wordAlter, "atomic": wordAtomic, "begin": wordBegin, "call": wordCall,
	"cluster": wordCluster, "commit": wordCommit, "concurrently": wordConcurrently, "copy": wordCopy,
	"create": wordCreate, "database": wordDatabase, "deallocate": wordDeallocate, "default_transaction_isolation": wordIsolation,
	"deferrable": wordDeferrable, "discard": wordDiscard, "do": wordDo, "drop": wordDrop, "end": wordEnd, "from": wordFrom,
	"isolation": wordIsolation, "notify": wordNotify, "pg_notify": wordNotify, "pg_prepared_statement": wordPrepared,
	"pg_prepared_statements": wordPrepared, "prepare": wordPrepare, "program": wordProgram, "read": wordRead, "reindex": wordReindex,
	"repeatable": wordRepeatable, "rollback": wordRollback, "schema": wordSchema, "serializable": wordSerializable,
	"statement_timeout": wordTimeout, "stdin": wordStdin, "stdout": wordStdout, "subscription": wordSubscription, "system": wordSystem,
	"tablespace": wordTablespace, "to": wordTo, "transaction": wordTransaction,
	"transaction_deferrable": wordDeferrable, "transaction_isolation": wordIsolation, "transaction_read_only": wordRead, "vacuum": wordVacuum, "work": wordWork,
}

// keywordLengths has, by first small letter, a bit for each length that a keyword has: most words
// need no look-up.
var keywordLengths = func() (lengths [256]uint32) {
	for name := range keywordNames {
		lengths[name[0]] |= 1 << len(name)
	}
	return lengths
}()

func keywordOf(word string) keyword {
	if keywordLengths[word[0]|' ']&(1<<len(word)) == 0 {
		return wordNone
	}
	var buffer [longestName]byte
	return keywordNames[string(fold(&buffer, word))]
}

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
	var buffer [longestName]byte
	folded := fold(&buffer, name)
	if outsideNames[string(folded)] {
		return true
	}
	return slices.ContainsFunc(outsidePrefixes, func(prefix string) bool {
		return len(folded) >= len(prefix) && string(folded[:len(prefix)]) == prefix
	})
}
