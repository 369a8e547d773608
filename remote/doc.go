// Package remote decides to which server a task may go, and how to connect to it.
//
// It reads connection strings and URIs as libpq does, the environment, service and password files.
// It owns the rules for the column remote: what a string in a table may say, what it inherits from
// the target's own connection, and which entries of the configuration a target may use. It opens no
// connection; it returns the configuration of one, with a limit for each address.
//
// conf calls it while it reads a configuration, work when it connects, on whatever goroutine. It
// keeps no state, so there are no locks.
//
// Secrets: Settings print themselves without passwords, and a Refused contains none.
package remote
