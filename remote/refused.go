package remote

import "fmt"

// SQLSTATEs of refused connection strings: those that dblink gives.
const (
	stateSyntax     = "42601" // syntax_error
	stateValue      = "22023" // invalid_parameter_value
	stateNotAllowed = "42501" // insufficient_privilege
	statePassword   = "2F003" // prohibited_sql_statement_attempted
	stateUnable     = "0A000" // feature_not_supported
)

// Refused is the error of a connection string that can't be read or may not be
// used. Its fields are those of a server's error; none of them ever contains a
// secret, nor the string itself. Trying again does not help.
type Refused struct {
	Message, Detail, Hint, SQLState string

	// Private is the part that only the administrator may read: it tells of files of this machine,
	// or of the configuration.
	Private string
}

// Error returns the message with its private part, and the hint after it.
func (r *Refused) Error() string {
	text := r.Message
	if r.Private != "" {
		text += ": " + r.Private
	}
	if r.Hint != "" {
		text += " (" + r.Hint + ")"
	}
	return text
}

func syntax(message string) error {
	return &Refused{Message: "invalid connection string: " + message, SQLState: stateSyntax}
}

func badValue(keyword, detail string) error {
	return &Refused{
		Message:  fmt.Sprintf("invalid connection string: the value of %q can't be used", keyword),
		Detail:   detail,
		SQLState: stateValue,
	}
}
