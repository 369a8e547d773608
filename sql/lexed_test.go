package sql

import (
	"regexp"
	"strings"
)

// A token of an SQL text, as far as the rules of unqualified need to tell them apart.
type lexeme struct {
	kind tokenKind
	text string // of a word in lower case, of a string without its quotes
	line int
}

type tokenKind int

const (
	wordToken     tokenKind = iota
	quotedToken             // "name"
	variableToken           // :name, $1, %s: what stands for a name or value of ours
	numberToken
	stringToken
	bodyToken // in dollar quotes
	operatorToken
	castToken
	markToken // everything else
)

// In the order in which they are tried.
var tokenPatterns = []struct {
	kind    tokenKind
	pattern *regexp.Regexp
}{
	{-1, regexp.MustCompile(`^(?:\s+|--[^\n]*|(?s:/\*.*?\*/))`)},
	{stringToken, regexp.MustCompile(`^(?i:[ebx])?'(?:[^'\\]|\\.|'')*'`)},
	{bodyToken, regexp.MustCompile(`(?s)^\$pgtaskd\$.*?\$pgtaskd\$|^\$\$.*?\$\$`)},
	{quotedToken, regexp.MustCompile(`^"(?:[^"]|"")*"`)},
	{variableToken, regexp.MustCompile(`^(?:\$%?\w+|:[a-z_]+|%(?:\d+\$)?[sILdq])`)},
	{numberToken, regexp.MustCompile(`^\d+(?:\.\d+)?(?:e\d+)?`)},
	{wordToken, regexp.MustCompile(`^[\pL_][\pL\d_$]*`)},
	{castToken, regexp.MustCompile(`^::`)},
	{markToken, regexp.MustCompile(`^(?::=|=>|\.\.)`)},
	{operatorToken, regexp.MustCompile("^[-+*/<>=~!@#%^&|`?]+")},
	{markToken, regexp.MustCompile(`(?s)^.`)},
}

// longest is how much of a text is looked at for a token, but for bodies: a pattern takes time for
// all that it is given.
const (
	longest = 2000
	short   = 100 // where neither a string nor a comment begins
)

// lex cuts an SQL text into tokens; its first line has that number.
func lex(sql string, line int) []lexeme {
	var tokens []lexeme
	for sql != "" {
		if kind, n := plain(sql); n > 0 { // most are
			if kind >= 0 {
				tokens = append(tokens, lexeme{kind, content(kind, sql[:n]), line})
			}
			line += strings.Count(sql[:n], "\n")
			sql = sql[n:]
			continue
		}
		quoted := strings.ContainsRune(`'"$-/eE`, rune(sql[0]))
		for _, p := range tokenPatterns {
			ahead := sql[:min(len(sql), short)]
			switch {
			case p.kind == bodyToken && sql[0] != '$':
				continue
			case p.kind == bodyToken:
				ahead = sql
			case quoted:
				ahead = sql[:min(len(sql), longest)]
			}
			text := p.pattern.FindString(ahead)
			if text == "" {
				continue
			}
			if p.kind >= 0 {
				tokens = append(tokens, lexeme{p.kind, content(p.kind, text), line})
			}
			line += strings.Count(text, "\n")
			sql = sql[len(text):]
			break
		}
	}
	return tokens
}

// plain is the length of a token at the beginning of a text that is told without a pattern: blanks,
// a word or a mark; 0: it is another.
func plain(sql string) (kind tokenKind, n int) {
	isLetter := func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }
	switch c := sql[0]; {
	case c == ' ' || c == '\n':
		return -1, len(sql) - len(strings.TrimLeft(sql, " \n"))
	case strings.IndexByte("(),;[]", c) >= 0, c == '.' && !strings.HasPrefix(sql, ".."):
		return markToken, 1
	case isLetter(c):
		for n < len(sql) && (isLetter(sql[n]) || '0' <= sql[n] && sql[n] <= '9' || sql[n] == '$') {
			n++
		}
		if n < len(sql) && (sql[n] == '\'' || sql[n] >= 0x80) {
			return 0, 0
		}
		return wordToken, n
	}
	return 0, 0
}

func content(kind tokenKind, text string) string {
	switch kind {
	case wordToken:
		return strings.ToLower(text)
	case stringToken:
		_, text, _ = strings.Cut(text, "'")
		return strings.ReplaceAll(text[:len(text)-1], "''", "'")
	case bodyToken:
		return strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(text, "$pgtaskd$", "$$"), "$$"), "$$")
	default:
		return text
	}
}
