// Package pgagent moves jobs of pgAgent to a task table. Read reads its tables, Convert makes a
// list for package apply of them, and names all that cannot be carried over, and why.
package pgagent
