// Package ask answers questions about task tables on the command line, and changes tasks: Status,
// List, Show, Tail, Stop, Again and Drain.
//
// Each takes the targets of a configuration or of a connection string, opens a session of its own
// to each, and writes to a Screen, as lines for people or as JSON. The statements are those of
// sql/ask; they are cut so that none of them reads a large table at once.
//
// main calls it. Status, Tail and Drain ask several targets at once, each on a goroutine of its
// own; a session belongs to one goroutine. Any goroutine may use a Screen.
//
// Locks: Screen.mu, held while something is written.
package ask
