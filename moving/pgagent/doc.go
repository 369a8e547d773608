// Package pgagent moves jobs of pgAgent to a task table. Read reads its tables; Convert makes a
// list for package apply, and notes everything that it cannot carry over, and why.
package pgagent
