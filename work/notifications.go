package work

// The server keeps notifications until each session that listens has had them, in one queue for all
// databases. A session that listens and stays in a transaction lets that fill up, and then every
// transaction that notifies fails at COMMIT. That is no fault of a task's: what notifies waits.

// queueFull says so from time to time.
func (l *loop) queueFull(words string) {
	l.log.Hourly(l.log.Error(), "queue").Str("error", words).Str("hint", "a session that listens has been in a transaction for long: the server's log names it, "+
		"in the DETAIL of a WARNING that the NOTIFY queue is full; or see SELECT * FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' ORDER BY xact_start, in all databases").
		Msg("the server's queue of notifications is full: ends of tasks that notify somebody wait")
}
