// Package attack plays people who know PostgreSQL from the inside, against the built program.
//
// Each attack has a database of its own, where tables are served under a superuser, under an
// ordinary role that made its table, and under one whose table the dsn's user made. None of the
// attacker's code may run under another role, and each table must be served. The attacks are those
// of who has the rights that docs/security.md grants; who has more is refused by name (package
// door). It has only tests, which need the build tag slow (make attack).
package attack
