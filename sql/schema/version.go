package schema

import (
	"regexp"
	"strconv"
)

// Version is that of the schema; it stands in the comments of the table and of the functions. What
// has a higher one was made by a later pgtaskd and is not taken back.
const Version = 1

const versionPrefix = "pgtaskd schema "

var (
	versionText    = versionPrefix + strconv.Itoa(Version)
	versionPattern = regexp.MustCompile(regexp.QuoteMeta(versionPrefix) + `(\d+)`)
)

// versionOf is the schema's version in a comment; 0: none.
func versionOf(comment string) int {
	match := versionPattern.FindStringSubmatch(comment)
	if match == nil {
		return 0
	}
	n, _ := strconv.Atoi(match[1])
	return n
}
