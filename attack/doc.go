// Package attack plays people who know PostgreSQL from the inside, against the built program.
//
// Each attack has a database of its own, where tables are served under a superuser, under an
// ordinary role that made its table, and under one whose table the dsn's user made. None of the
// attacker's code may run under another role, and each table must be served, or refused with the
// attacker's name. docs/security.md names the tests. It has only tests, which need the build tag
// slow (make attack).
package attack
