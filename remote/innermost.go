package remote

// Innermost is the text of the error at the bottom, as in "connection refused": the errors around
// it may name users and hosts.
func Innermost(err error) string {
	for {
		var next error
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			next = e.Unwrap()
		case interface{ Unwrap() []error }:
			if all := e.Unwrap(); len(all) > 0 {
				next = all[0]
			}
		}
		if next == nil {
			return err.Error()
		}
		err = next
	}
}
