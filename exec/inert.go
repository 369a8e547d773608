package exec

import "strings"

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
