package traits

import (
	"slices"
	"strings"
)

// statement is what is known of the statement that is being read.
type statement struct {
	begun  bool
	words  int // read so far
	first  [3]string
	within []string // those of them that count wherever they are, once each
}

func (s statement) has(any ...string) bool {
	return slices.ContainsFunc(s.within, func(word string) bool { return slices.Contains(any, word) })
}

func (s statement) control() bool {
	switch s.first[0] {
	case "commit", "end", "abort":
		return true
	case "rollback":
		return !s.rollbackTo()
	case "prepare":
		return s.first[1] == "transaction"
	}
	return false
}

func (s statement) rollbackTo() bool {
	noise := s.first[1] == "work" || s.first[1] == "transaction"
	return s.first[0] == "rollback" && (s.first[1] == "to" || noise && s.first[2] == "to")
}

// noTransaction knows the statements that PostgreSQL 12 to 18 refuse in a transaction block. Some
// of them it refuses only in some forms that the words do not show: VACUUM, CLUSTER and
// SUBSCRIPTION are here in all forms, REINDEX of a partitioned table is left to the server.
func (s statement) noTransaction() bool {
	switch s.first[0] {
	case "vacuum", "cluster":
		return true
	case "create", "drop":
		return s.first[1] == "database" || s.first[1] == "tablespace" || s.has("concurrently") ||
			s.first[1] == "subscription"
	case "alter":
		return s.first[1] == "system" || s.first[1] == "subscription" || s.has("concurrently") ||
			s.first[1] == "database" && s.has("tablespace")
	case "reindex":
		return s.has("database", "system", "schema", "concurrently")
	case "discard":
		return s.first[1] == "all"
	}
	return false
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
	name = strings.ToLower(name)
	return outsideNames[name] || slices.ContainsFunc(outsidePrefixes, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}

func constantWord(word string) bool {
	switch strings.ToLower(word) {
	case "select", "values", "as", "null", "true", "false":
		return true
	}
	return false
}
