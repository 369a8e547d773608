package sql

// Wake is how the leader comes to know of new tasks.
type Wake string

// The ways of waking. Auto is by NOTIFY where the trigger is there or can be made, else as Poll.
const (
	Auto   Wake = "auto"
	Notify Wake = "notify"
	WAL    Wake = "wal"
	Poll   Wake = "poll"
)
