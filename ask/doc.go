// Package ask holds the commands that ask about task tables or change tasks: ShowStatus, List,
// Show, Tail, Stop, Again, Pause, Resume and Drain. main calls them.
//
// Each takes targets of a configuration or of a connection string, opens its own sessions to them,
// and writes lines for people or JSON to a Screen. Tables are admitted, and tasks of a list found, by
// package rows; statements that only commands need are in sql/ask. They work in parts, so that none
// reads a large table at once. Until the door has admitted its table, a session reads only catalogs.
//
// ShowStatus, Tail and Drain ask several targets at once, on several goroutines. A session belongs
// to one goroutine. Any goroutine may use a Screen: Screen.mu is held while it writes.
package ask
