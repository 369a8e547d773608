package conf

import "slices"

// everybody is what PostgreSQL calls all roles together.
const everybody = "PUBLIC"

// trust reads a list of the names of roles.
func (r *reader) trust(into *[]string) func(value) {
	return func(v value) {
		if v.kind != list {
			r.fault(v, `must be a list of roles, such as ["app_owner"], not %s`, shown(v))
			return
		}
		for _, item := range v.items {
			name := ""
			r.name(&name)(item)
			switch {
			case name == "":
			case name == "public": // a name that no role can have
				r.fault(item, "must be the name of a role, not %s; did you mean %q?", shown(item), everybody)
			case slices.Contains(*into, name):
				r.fault(item, "is named twice")
			default:
				*into = append(*into, name)
			}
		}
	}
}
