// Package remote decides to which server a task may go, and how to connect there.
//
// It reads connection strings, URIs, the environment, service files and password files as libpq
// does. It owns the rules for the column remote: the settings that a task's string may have, those
// it inherits from the target's own connection, and the entries of the configuration that a target
// may use. Own returns the configuration for a connection; Destination.Connect opens a session for
// a remote task.
//
// conf calls it when it reads a configuration, work when it connects, from any goroutine. It keeps
// no state that changes, so there are no locks.
//
// Secrets: printed Settings have no passwords, and a Refused contains none.
package remote
