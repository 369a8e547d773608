package remote

import (
	"errors"
	"fmt"
	"os"
)

// SQLSTATEs of refused connection strings, as in dblink.
const (
	stateSyntax     = "42601" // syntax_error
	stateValue      = "22023" // invalid_parameter_value
	stateNotAllowed = "42501" // insufficient_privilege
	statePassword   = "2F003" // prohibited_sql_statement_attempted
	stateUnable     = "0A000" // feature_not_supported
)

// Refused is the error of a connection string that cannot be read or may not be used. It has the
// fields of a server's error. None contains a secret or the string. Trying again does not help.
type Refused struct {
	Message, Detail, Hint, SQLState string

	// Private is only for the administrator: it names files of this machine, or parts of the
	// configuration.
	Private string
}

// Error returns the message with its private part, and the hint.
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

// syntax refuses a string that cannot be read; hint may be "".
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

// fileTrouble describes a file that cannot be read; "" for other errors.
func fileTrouble(err error) string {
	var trouble *os.PathError
	if errors.As(err, &trouble) {
		return trouble.Error()
	}
	return ""
}

// notAllowed refuses a keyword in a task's string.
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
