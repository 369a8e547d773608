package exec

// tags watches the command tags of a run: they are the server's own word for what was done, one for
// each statement of the input, and SQL can't make them up. Inside a function or DO block no
// statement can end a transaction that we have begun.
type tags struct {
	traits    Traits
	finished  bool // the transaction was ended
	rollbacks int  // ROLLBACK TO SAVEPOINT has the tag of ROLLBACK
	declared  bool // a cursor, which may stay
	prepared  bool // statements were prepared, or ours may be gone
}

func (t *tags) see(tag []byte) {
	switch string(tag) {
	case "COMMIT", "PREPARE TRANSACTION":
		t.finished = true
	case "ROLLBACK":
		t.rollbacks++
	case "DECLARE CURSOR":
		t.declared = true
	case "PREPARE", "DEALLOCATE", "DEALLOCATE ALL", "DISCARD ALL":
		t.prepared = true
	}
}

// ended tells whether the transaction in which the input began is over.
func (t *tags) ended() bool { return t.finished || t.rollbacks > t.traits.Rollbacks }
