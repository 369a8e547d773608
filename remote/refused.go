package remote

import (
	"errors"
	"fmt"
	"os"
)

// SQLSTATEs of refused connection strings: those that dblink gives.
const (
	stateSyntax     = "42601" // syntax_error
	stateValue      = "22023" // invalid_parameter_value
	stateNotAllowed = "42501" // insufficient_privilege
	statePassword   = "2F003" // prohibited_sql_statement_attempted
	stateUnable     = "0A000" // feature_not_supported
)

// Refused is the error of a connection string that can't be read or may not be used. Its fields are
// those of a server's error; none of them ever contains a secret, nor the string itself. Trying
// again does not help.
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

// syntax refuses a string that can't be read; hint may be "".
func syntax(message, hint string) error {
	return &Refused{Message: "invalid connection string: " + message, Hint: hint, SQLState: stateSyntax}
}

// badValue refuses the value of a keyword.
func badValue(keyword, detail string) *Refused {
	return &Refused{
		Message:  fmt.Sprintf("invalid connection string: the value of %q can't be used", keyword),
		Detail:   detail,
		SQLState: stateValue,
	}
}

// badFile refuses a value that may name a file.
func badFile(keyword string, cause error) error {
	refused := badValue(keyword, "")
	refused.Private = fileTrouble(cause)
	return refused
}

// fileTrouble tells of a file that can't be read; of nothing else.
func fileTrouble(err error) string {
	var trouble *os.PathError
	if errors.As(err, &trouble) {
		return trouble.Error()
	}
	return ""
}

// notAllowed refuses a keyword in the string of a task.
func notAllowed(keyword, detail, hint string) error {
	return &Refused{
		Message:  fmt.Sprintf("%q is not allowed in remote", keyword),
		Detail:   detail,
		Hint:     hint,
		SQLState: stateNotAllowed,
	}
}

func passwordRequired(detail, hint string) error {
	return &Refused{Message: "password is required", Detail: detail, Hint: hint, SQLState: statePassword}
}
