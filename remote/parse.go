package remote

import (
	"fmt"
	"strings"

	"github.com/agext/levenshtein"
)

// Parse reads a connection string of libpq: keyword/value pairs or a URI. An unknown keyword is an
// error that names it. The error is a *Refused, and never contains a value of the string.
func Parse(s string) (Settings, error) {
	if strings.Contains(s, "\x00") {
		return nil, syntax("it contains a zero byte", "")
	}
	for _, scheme := range []string{"postgresql://", "postgres://"} {
		if rest, ok := strings.CutPrefix(s, scheme); ok {
			return parseURI(rest)
		}
	}
	return parsePairs(s)
}

// parsePairs reads "host=a password='x y'". Blanks around = are allowed. A backslash takes the next
// character literally, inside quotes and outside.
func parsePairs(s string) (Settings, error) {
	settings := Settings{}
	// A secret without quotes may end at a blank that belongs to it. The next text could be its
	// second half, and must not be shown.
	exposed := false
	for s = strings.TrimLeft(s, blanks); s != ""; s = strings.TrimLeft(s, blanks) {
		keyword, rest := cutAny(s, "="+blanks)
		rest, found := strings.CutPrefix(strings.TrimLeft(rest, blanks), "=")
		if !found {
			return nil, notPair(keyword, exposed)
		}
		rest = strings.TrimLeft(rest, blanks)
		quoted := strings.HasPrefix(rest, "'")
		value, rest, closed := cutValue(rest, quoted)
		if !closed {
			return nil, syntax("a quoted value has no closing quote", "")
		}
		if err := settings.store(keyword, value, exposed); err != nil {
			return nil, err
		}
		exposed = exposed || isSecret(keyword) && !quoted
		s = rest
	}
	return settings, nil
}

// cutValue cuts off the value at the beginning of s: up to the closing quote, or without quotes up
// to the next blank.
func cutValue(s string, quoted bool) (value, rest string, closed bool) {
	end := blanks
	if quoted {
		s, end = s[1:], "'"
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case strings.IndexByte(end, s[i]) >= 0:
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 == len(s): // libpq drops a last backslash
		case s[i] == '\\':
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), "", !quoted
}

// notPair is the error of a word without =. Like notKeyword, it shows the word only if that cannot
// be part of a secret.
func notPair(word string, exposed bool) error {
	switch {
	case exposed:
		return syntax("the text after the password is not a keyword and value",
			`A value with blanks, quotes or backslashes is written as 'it\'s one'.`)
	case isKeyword(word):
		return syntax(fmt.Sprintf(`missing "=" after %q`, word), "")
	}
	return syntax("it should consist of keyword=value pairs, or be a URI that begins with postgres://", "")
}

// notKeyword is the error of an unknown keyword.
func notKeyword(word string, exposed bool) error {
	const longest = 32
	misspelt := word != "" && len(word) <= longest && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") == ""
	if exposed || !misspelt {
		return notPair("", exposed)
	}
	hint, score := "", 0.5
	for _, keyword := range keywords {
		if match := levenshtein.Match(word, keyword, nil); match >= score {
			hint, score = fmt.Sprintf("Perhaps you meant %q.", keyword), match
		}
	}
	return syntax(fmt.Sprintf("unknown keyword %q", word), hint)
}

// Shown returns the remote of a task for people, without passwords. It keeps names of the
// configuration.
func Shown(text string) string {
	if !strings.Contains(text, "=") && !strings.Contains(text, "://") {
		return text
	}
	settings, err := Parse(text)
	if err != nil {
		return "(a connection string that cannot be read is not shown: it could hold a password)"
	}
	return settings.Public()
}
