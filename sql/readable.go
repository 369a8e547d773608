package sql

import "strings"

// Roles belong to all databases of a server, whose encodings differ, and names of strangers may have
// characters that UTF-8 lacks. The server refuses to send either, and with it all else that a query
// returns.

// readable replaces each :readable(text) by what can be sent, whatever the text is: where the
// encoding of the database has bytes that may not be text in UTF-8, those beyond ASCII are escaped.
func readable(sql string) string {
	before, rest, found := strings.Cut(sql, ":readable(")
	if !found {
		return sql
	}
	end, open := 0, 1
	for ; open > 0; end++ {
		switch rest[end] {
		case '(':
			open++
		case ')':
			open--
		}
	}
	text := rest[:end-1]
	return before + "CASE WHEN getdatabaseencoding() = ANY ('{UTF8,LATIN1}'::name[]) THEN " + text +
		" ELSE encode(decode(replace(" + text + `, E'\\', E'\\\\'), 'escape'), 'escape') END` + readable(rest[end:])
}
