package traits

import (
	"hash/maphash"
	"strings"
)

// lexer splits SQL into the few tokens that tell what an input may do. It follows the server's own
// scanner in what hides text (strings, names, comments) and lumps together the rest. It never
// fails: what is not terminated ends with the input. Plain strings have no backslash escapes, as
// standard_conforming_strings has it.
type lexer struct {
	input string
	next  int // offset of the first byte that has not been read
}

type token struct {
	kind tokenKind
	text string // a word as it stands, or what is between the quotes of a name or string, escapes and all
}

type tokenKind uint8

const (
	tokenEnd       tokenKind = iota // of the input
	tokenWord                       // a keyword or a name without quotes
	tokenName                       // "name"
	tokenCodedName                  // U&"name", which can spell any other name
	tokenString                     // '…', E'…', $tag$…$tag$ and so on
	tokenOpen                       // (
	tokenSemicolon                  // ;
	tokenOther                      // numbers, operators, other punctuation: as many as follow each other
)

// class says what a byte may begin.
type class uint8

const (
	classOther class = iota
	classDigit
	classBlank
	classLetter // also _ and all bytes of characters that are not ASCII
	classMark   // begins something of its own, or may
)

var classes = func() (table [256]class) {
	for b := range table {
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b == '_', b >= 0x80:
			table[b] = classLetter
		case b >= '0' && b <= '9':
			table[b] = classDigit
		case b == ' ', b >= '\t' && b <= '\r':
			table[b] = classBlank
		case strings.IndexByte(`'"$(;-/`, byte(b)) >= 0:
			table[b] = classMark
		}
	}
	return table
}()

// token reads the next token. Blanks and comments are skipped.
func (l *lexer) token() token {
	l.skipBlank()
	if l.next >= len(l.input) {
		return token{kind: tokenEnd}
	}
	start := l.next
	switch b := l.input[start]; {
	case classes[b] == classLetter:
		return l.wordOrPrefixed()
	case b == '\'':
		return token{tokenString, l.enclosed(1, '\'')}
	case b == '"':
		return token{tokenName, l.enclosed(1, '"')}
	case b == '(':
		l.next++
		return token{tokenOpen, "("}
	case b == ';':
		l.next++
		return token{tokenSemicolon, ";"}
	case b == '$':
		if tag := l.dollarTag(); tag != "" {
			return token{tokenString, l.dollarString(tag)}
		}
	}
	l.next++ // also a mark that has turned out to begin nothing: $1, a minus, a slash
	for l.next < len(l.input) && classes[l.input[l.next]] <= classBlank {
		l.next++
	}
	return token{tokenOther, l.input[start:l.next]}
}

// skipBlank skips blanks and comments. As in the server's scanner, both kinds of comment may begin
// in the middle of operators.
func (l *lexer) skipBlank() {
	for l.next < len(l.input) {
		rest := l.input[l.next:]
		switch b := classes[rest[0]]; {
		case b == classBlank:
			l.next++
		case b != classMark:
			return
		case strings.HasPrefix(rest, "--"):
			l.skipLine()
		case strings.HasPrefix(rest, "/*"):
			l.skipComment()
		default:
			return
		}
	}
}

// skipLine goes to the end of the line; a carriage return ends it as well.
func (l *lexer) skipLine() {
	if i := strings.IndexAny(l.input[l.next:], "\r\n"); i >= 0 {
		l.next += i
		return
	}
	l.next = len(l.input)
}

// skipComment skips a comment of the kind that nests.
func (l *lexer) skipComment() {
	l.next += len("/*")
	for depth := 1; depth > 0 && l.next < len(l.input); {
		rest := l.input[l.next:]
		switch {
		case strings.HasPrefix(rest, "/*"):
			depth++
			l.next += len("/*")
		case strings.HasPrefix(rest, "*/"):
			depth--
			l.next += len("*/")
		default:
			l.next++
		}
	}
}

// wordOrPrefixed reads a word, or the string or name that it is a prefix of.
func (l *lexer) wordOrPrefixed() token {
	rest := l.input[l.next:]
	if len(rest) > 1 {
		switch first, second := rest[0]|0x20, rest[1]; {
		case first == 'e' && second == '\'':
			return token{tokenString, l.escaped(2)}
		case second == '\'' && (first == 'b' || first == 'x' || first == 'n'):
			return token{tokenString, l.enclosed(2, '\'')}
		case first == 'u' && strings.HasPrefix(rest[1:], "&'"):
			return token{tokenString, l.enclosed(3, '\'')}
		case first == 'u' && strings.HasPrefix(rest[1:], `&"`):
			return token{tokenCodedName, l.enclosed(3, '"')}
		}
	}
	end := 1
	for end < len(rest) && (rest[end] == '$' || isLetterOrDigit(rest[end])) {
		end++
	}
	l.next += end
	return token{tokenWord, rest[:end]}
}

func isLetterOrDigit(b byte) bool {
	return classes[b] == classLetter || classes[b] == classDigit
}

// enclosed reads what stands between an opening quote, the last of the next width bytes, and the
// closing one. A doubled quote stays inside.
func (l *lexer) enclosed(width int, quote byte) string {
	start := l.next + width
	for l.next = start; ; {
		i := strings.IndexByte(l.input[l.next:], quote)
		if i < 0 {
			l.next = len(l.input)
			return l.input[start:]
		}
		end := l.next + i
		l.next = end + 1
		if l.next >= len(l.input) || l.input[l.next] != quote {
			return l.input[start:end]
		}
		l.next++
	}
}

// escaped reads a string with backslash escapes. A string goes on after a line break and another
// quote.
func (l *lexer) escaped(width int) string {
	start := l.next + width
	for l.next = start; l.next < len(l.input); {
		end := l.next
		l.next++
		switch l.input[end] {
		case '\\':
			l.next = min(end+2, len(l.input))
		case '\'':
			if l.next < len(l.input) && l.input[l.next] == '\'' {
				l.next++
			} else if !l.continued() {
				return l.input[start:end]
			}
		}
	}
	return l.input[start:]
}

// continued goes into the next part of a string whose closing quote has just been read, if there is
// one: a quote after blanks and line comments with at least one line break.
func (l *lexer) continued() bool {
	ahead := lexer{input: l.input, next: l.next}
	for ahead.next < len(ahead.input) {
		rest := ahead.input[ahead.next:]
		switch {
		case classes[rest[0]] == classBlank:
			ahead.next++
		case strings.HasPrefix(rest, "--"):
			ahead.skipLine()
		case rest[0] == '\'' && strings.ContainsAny(l.input[l.next:ahead.next], "\r\n"):
			l.next = ahead.next + 1
			return true
		default:
			return false
		}
	}
	return false
}

// dollarTag returns the opening $tag$ that stands here, or "".
func (l *lexer) dollarTag() string {
	rest := l.input[l.next:]
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '$':
			return rest[:i+1]
		case classes[rest[i]] != classLetter && (i == 1 || classes[rest[i]] != classDigit):
			return ""
		}
	}
	return ""
}

func (l *lexer) dollarString(tag string) string {
	start := l.next + len(tag)
	i := strings.Index(l.input[start:], tag)
	if i < 0 {
		l.next = len(l.input)
		return l.input[start:]
	}
	l.next = start + i + len(tag)
	return l.input[start : start+i]
}

// addTo adds what is of the input's shape.
func (t token) addTo(shape *maphash.Hash) {
	_ = shape.WriteByte(byte(t.kind))
	switch t.kind {
	case tokenWord, tokenName, tokenCodedName:
		_, _ = shape.WriteString(t.text)
	case tokenOther:
		for _, b := range []byte(t.text) {
			if classes[b] != classDigit && classes[b] != classBlank {
				_ = shape.WriteByte(b)
			}
		}
	}
}
