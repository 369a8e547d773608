package major

import (
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Feature is something that servers lack before this major.
type Feature int

// The majors that pgtaskd serves. A test compares them with those of make test-matrix.
const (
	Oldest = 12
	Newest = 18
)

// What servers have got since the oldest major.
const (
	PartitionedTriggers Feature = 13 // a partitioned table has BEFORE triggers for each row, and publications
	StatementTimeout    Feature = 13 // statement_timeout counts for each statement of an input, before for the whole
	ClientCheck         Feature = 14 // a session ends when its client is silent or gone, even while SQL runs
	TIDRange            Feature = 14 // pages are read by a range of ctids
	BackupStart         Feature = 15 // pg_backup_start, before pg_start_backup
	ClosedPublic        Feature = 15 // the schema public lets only its owner create objects
	CopyStrategy        Feature = 15 // CREATE DATABASE … STRATEGY
	IntervalRange       Feature = 15 // an interval out of range is an error, before it wraps; and microseconds are rounded in another way
	Merge               Feature = 15
	ParameterRights     Feature = 15 // GRANT SET ON PARAMETER
	MemberOptions       Feature = 16 // GRANT role … WITH SET, INHERIT; CREATEROLE makes no member of any role
	Maintain            Feature = 17 // the right MAINTAIN, which an owner has
	TransactionTimeout  Feature = 17
)

// In tells whether a server has the feature; version is its server_version_num.
func (f Feature) In(version int) bool { return version >= int(f)*10_000 }

// Of tells whether the server of a connection has the feature.
func (f Feature) Of(conn *pgx.Conn) bool {
	return f.In(Version(conn.PgConn().ParameterStatus("server_version")))
}

// Version returns the server_version_num of a release: 150000 for 15.18 (Debian 15.18-0).
func Version(release string) int {
	digits := strings.IndexFunc(release+".", func(r rune) bool { return r < '0' || r > '9' })
	major, _ := strconv.Atoi(release[:digits]) // no digits: no feature
	return major * 10_000
}
