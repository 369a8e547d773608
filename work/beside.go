package work

import "pgtaskd/sql"

// without says once what the table is served without.
func (l *loop) without(all []string) {
	known := l.trouble.without
	l.trouble.without = map[string]bool{}
	for _, why := range all {
		if !known[why] {
			l.log.Warn().Msg(why)
		}
		l.trouble.without[why] = true
	}
}

// unmade logs once what could not be made beside the table, and returns the rest.
func (l *loop) unmade(changes []sql.Change) (made []sql.Change) {
	for _, c := range changes {
		if c.Failed == nil {
			made = append(made, c)
			continue
		}
		why := "goes without " + c.What + ", which cannot be made: " + c.Failed.Error()
		if !l.trouble.unmade[why] {
			l.log.Warn().Msg(why)
		}
		if l.trouble.unmade == nil {
			l.trouble.unmade = map[string]bool{}
		}
		l.trouble.unmade[why] = true
	}
	return made
}
