// Package keep looks after the table and the server's disk: it deletes ended tasks that are older
// than they are kept (Walk), lets nothing start while the disk is full (Disk), and reads what the
// metrics show of the table (Survey).
//
// Each is a duty of the leader: Next says when it is due, and Step does the next part of it. All
// belong to the goroutine of the loop, and outlast its terms.
package keep
