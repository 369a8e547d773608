package schema

import (
	"regexp"
	"strconv"
)

// Version is the schema's version; the comments of the table and of the functions contain it.
// Objects with a higher one were made by a later pgtaskd and are not replaced.
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
