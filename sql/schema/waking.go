package schema

import (
	"strconv"

	"pgtaskd/sql/lock"
)

// acceptTrigger tells the leader of new tasks, stateTrigger of STOP and PLAN, and changeTrigger of
// all else that it must know of.
const (
	acceptTrigger = "pgtaskd_accept"
	stateTrigger  = "pgtaskd_state"
	changeTrigger = "pgtaskd_update"
)

// Waking is how a table tells its leader of new tasks and of changes.
type Waking struct {
	Lock      int64  // number of an advisory lock: the leader holds it alone while it sleeps; INSERTs that do not wake it share it
	Channel   string // of NOTIFY, while it sleeps
	Inserts   bool   // the trigger tells of new tasks: it is enabled
	Changes   bool   // the triggers tell, on Channel, of all else that matters to the leader: they are enabled
	Published int64  // Publication shows new tasks: a number that is another one when it is made again; 0: it does not
}

// waking is how the table wakes the leader. The function pgtaskd_accept computes lock and channel
// in the same way.
func (f *found) waking() Waking {
	return Waking{
		Lock: lock.Sleeping + f.root, Channel: "pgtaskd_" + strconv.FormatInt(f.root, 10), Published: f.published,
		Inserts: f.enabled(acceptTrigger), Changes: f.enabled(stateTrigger) && f.enabled(changeTrigger),
	}
}
