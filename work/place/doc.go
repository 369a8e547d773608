// Package place tells copies from the table that they were made of. Each leader writes into the
// table of controllers where the table is: server, database, table, and the addresses under which
// it was led. A dump, a template, a subscription and a clone of the server bring that along. Where
// it differs from where the table is now, Judge, which is pure, says whether the table is a copy; a
// copy is not served until somebody adopts it.
//
// Any goroutine may call Look, each with a connection of its own. A Memory belongs to the goroutine
// of Serve.
package place
