// Package pgagent moves jobs of pgAgent to a task table. Read looks at its tables, Convert makes of
// them a list for package apply, and says what cannot be carried over, and why.
package pgagent
