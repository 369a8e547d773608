// Package attack attacks the built program as people do who know PostgreSQL from the inside.
//
// Each attack has its own database, with tables served by a superuser, by an ordinary role that
// made its table, and by a role whose table the dsn's user made. The attacker's code must not run
// under any other role, and each table must be served. The attackers have the rights that
// docs/security.md grants; a role with more rights is refused by name (package door). The package
// has only tests, which need the build tag slow (make attack).
package attack
