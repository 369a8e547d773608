package door

import "strings"

// schemas are those that a search_path names, as the server reads it: names between commas, which
// are in small letters unless they are quoted. The server's own are left out, as nobody else's
// names begin with pg_.
func schemas(path, role string) []string {
	all := []string{}
	for rest := path; rest != ""; {
		var name string
		name, rest = next(rest)
		if name == "$user" {
			name = role
		}
		if name != "" && !strings.HasPrefix(name, "pg_") {
			all = append(all, name)
		}
	}
	return all
}

// next is the first name of a list, and what comes after its comma.
func next(list string) (name, rest string) {
	list = strings.TrimLeft(list, " \t\n\r\f\v")
	if !strings.HasPrefix(list, `"`) {
		name, rest, _ = strings.Cut(list, ",")
		return lower(strings.TrimRight(name, " \t\n\r\f\v")), rest
	}
	var b strings.Builder
	for list = list[1:]; list != ""; list = list[1:] {
		if list[0] == '"' {
			if !strings.HasPrefix(list, `""`) {
				break
			}
			list = list[1:]
		}
		b.WriteByte(list[0])
	}
	_, rest, _ = strings.Cut(list, ",")
	return b.String(), rest
}

// lower makes ASCII letters small, which is what the server does in most encodings.
func lower(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r - 'A' + 'a'
		}
		return r
	}, name)
}
