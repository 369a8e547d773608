package conf

import "pgtaskd/remote"

// roles reads the roles under which tasks may run: an object of names, each with where its password
// comes from, or a list of names alone.
func (r *reader) roles(into *map[string]remote.Credential) func(value) {
	return func(v value) {
		all := map[string]remote.Credential{}
		*into = all
		if v.kind == list {
			for _, item := range v.items {
				name := ""
				r.name(&name)(item)
				if _, twice := all[name]; twice && name != "" {
					r.fault(item, "is named twice")
				}
				all[name] = remote.Credential{}
			}
			return
		}
		known := keys{}
		for _, f := range v.fields {
			known[f.key] = func(v value) {
				r.name(new(string))(value{kind: text, text: f.key, place: v.place, offset: f.offset})
				all[f.key] = r.credential(v)
			}
		}
		if v.kind != object {
			r.fault(v, `must be an object of roles, such as {"alice": {}}, or a list of them, not %s`, v.kind)
			return
		}
		r.object(v, known)
	}
}

func (r *reader) credential(v value) (c remote.Credential) {
	r.object(v, keys{"password_file": r.words(&c.File), "password_command": r.words(&c.Command)})
	if c.File != "" && c.Command != "" {
		r.fault(v, `has "password_file" or "password_command", not both`)
	}
	return c
}

// words reads a text that is not empty.
func (r *reader) words(into *string) func(value) {
	return func(v value) {
		switch {
		case v.kind != text:
			r.fault(v, "must be a string, not %s", v.kind)
		case v.text == "":
			r.fault(v, "must not be empty")
		default:
			*into = v.text
		}
	}
}
