package door

import (
	"regexp"
	"strings"
)

var listed = regexp.MustCompile(`"((?:[^"]|"")*)"?|[^\s,"]+`)

// schemas are those that a search_path names, as the server reads it: names between commas, which
// are in small letters unless they are quoted. The server's own are left out, as nobody else's
// names begin with pg_.
func schemas(path, role string) []string {
	all := []string{}
	for _, match := range listed.FindAllStringSubmatch(path, -1) {
		name := strings.ReplaceAll(match[1], `""`, `"`)
		if !strings.HasPrefix(match[0], `"`) {
			name = strings.ToLower(match[0])
		}
		if name == "$user" {
			name = role
		}
		if name != "" && !strings.HasPrefix(name, "pg_") {
			all = append(all, name)
		}
	}
	return all
}
