// Package keep looks after the table and the server's disk. Walk deletes ended tasks when their
// retention is over. Disk keeps tasks from starting while the disk is full. Survey reads the
// table's metrics.
//
// Each is a duty of the leader: Next returns the time until it is due, and Step does the next part.
// All belong to the goroutine of the loop, and outlast its terms.
package keep
