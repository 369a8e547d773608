package human

import "regexp"

// These match passwords in errors: SQL can raise any text. Rather too much is masked than too little.
var (
	// password = 'x', PASSWORD 'x', E'x', ''x'', $$x$$, "password": "x"; the end may be cut off.
	quotedSecret = regexp.MustCompile(`(?is)(passw(?:or)?d["']?\s*[=:]?\s*(?:E|U&)?)(?:'+(?:\\.|''|[^'\\])*'*|\$\w*\$[^$]*(?:\$\w*\$)?|"(?:\\.|[^"\\])*"?)`)
	plainSecret  = regexp.MustCompile(`(?i)(passw(?:or)?d\s*=\s*)(?:\\.|[^\s'\\])+`)
	// In a URI, up to the last @.
	uriSecret = regexp.MustCompile(`(://[^\s/:@]*:)(?:[^\s']*(@)|[^\s']+)`)
)

// Masked returns a text of SQL, such as an error, without passwords.
func Masked(text string) string {
	text = quotedSecret.ReplaceAllString(text, "${1}***")
	text = plainSecret.ReplaceAllString(text, "${1}***")
	return uriSecret.ReplaceAllString(text, "${1}***${2}")
}
