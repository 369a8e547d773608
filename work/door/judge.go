package door

import (
	"fmt"
	"slices"
	"strings"
)

// row is what the statements find of one who is not trusted.
type row struct {
	Way  string
	Part string // what it is about: a class of pg_depend, a relation's part, a place
	Who  string
	What string
	Mend string
}

// trusted is one who is.
type trusted struct {
	OID  int64 // 0: PUBLIC
	Name string
	Why  string // "": superusers, the serving role, and who is named
}

// judge grades what was found. Where everybody may run SQL as the serving role, or is trusted by
// name, nobody can do more by anything else.
func judge(superuser bool, trust []string, believed []trusted, rows []row) Findings {
	all := missing(trust, believed)
	everybody := slices.Contains(trust, Public)
	plain := map[string]bool{}
	for _, t := range believed {
		plain[t.Name] = plain[t.Name] || t.Why == ""
		everybody = everybody || t.OID == 0
	}
	for _, t := range believed {
		if t.Why != "" && !plain[t.Name] && !strings.HasPrefix(t.Name, "pg_") {
			all = append(all, Finding{Grade: Note, Who: t.Name, Way: t.Why})
		}
	}
	if everybody {
		return all
	}
	for _, r := range rows {
		all = append(all, Finding{Grade: r.grade(superuser), Who: r.Who, Way: r.Way, What: r.What, Mend: r.Mend, part: r.Part})
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return order(a.Grade) - order(b.Grade) })
	return all
}

func order(g Grade) int { return slices.Index([]Grade{Refuse, Warn, Note}, g) }

// grade tells whether code of theirs would run as the serving role, or the table would be theirs:
// else they can only break it. What a superuser's session looks up in a place of theirs is as bad
// as the former.
func (r row) grade(superuser bool) Grade {
	switch r.Part {
	case "schema":
		if r.Who == Public && !superuser {
			return Warn
		}
	case "path":
		if !superuser {
			return Warn
		}
	case "default", "sequence",
		"pg_namespace", "pg_operator", "pg_opclass", "pg_opfamily", "pg_collation", "pg_extension",
		"pg_ts_config", "pg_ts_dict", "pg_language", "pg_publication":
		return Warn
	}
	return Refuse
}

// missing are warnings of roles that are trusted and do not exist.
func missing(trust []string, believed []trusted) (all Findings) {
	for _, name := range trust {
		if name != Public && !slices.ContainsFunc(believed, func(t trusted) bool { return t.Name == name }) {
			all = append(all, Finding{
				Grade: Warn, Who: name, Way: "is trusted and does not exist",
				Mend: fmt.Sprintf(`take it out of "trust", or CREATE ROLE %s`, quoted(name)),
			})
		}
	}
	return all
}
