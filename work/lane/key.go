package lane

import "crypto/sha256"

// Key tells lanes apart: by the group's and the remote's own text, or, as there may be many lanes,
// by what stands for a long one and for no other.
type Key struct {
	group  string
	remote string // "" is the target's own database
}

// nameMost is the longest name that a lane keeps, in bytes.
const nameMost = 100

// KeyOf is the key of the lane of a group and a remote; an empty remote is the target's own
// database. Any goroutine may call it.
func KeyOf(group, remote string) Key { return Key{Brief(group), Brief(remote)} }

// Brief is a name of at most 100 bytes, or what stands for a longer one and for no other. Any
// goroutine may call it.
func Brief(name string) string {
	if len(name) <= nameMost {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "\x00" + string(sum[:]) // which no name of the server's has
}
