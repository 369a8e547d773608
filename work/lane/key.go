package lane

import (
	"crypto/sha256"
	"strings"
)

// Key tells lanes apart: by the group's and the remote's own text, or, as there may be many lanes,
// by what stands for a long one and for no other.
type Key struct {
	group  string
	remote string // "" is the target's own database
}

// nameMost is the longest name that a lane keeps, in bytes. Of a longer one it keeps as much,
// behind the hash, by which rows of the table of groups are told to be about it.
const (
	nameMost = 100
	hashSize = sha256.Size
)

// KeyOf is the key of the lane of a group and a remote; an empty remote is the target's own
// database. Any goroutine may call it.
func KeyOf(group, remote string) Key { return Key{Brief(group), Brief(remote)} }

// Brief is a name of at most 100 bytes, or what stands for a longer one and for no other; what the
// server has sent for one that is longer still (a character of code 1 in front) stays. Any
// goroutine may call it.
func Brief(name string) string {
	if len(name) <= nameMost || strings.HasPrefix(name, "\x01") {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "\x00" + string(sum[:]) + name[:nameMost] // code 0, which no name of the server's has
}

// head is what is known of the beginning of a name, by what stands for it.
func head(key string) string {
	switch {
	case strings.HasPrefix(key, "\x00"):
		return key[min(len(key), 1+hashSize):]
	case strings.HasPrefix(key, "\x01"):
		return key[min(len(key), 1+2*hashSize):] // which the server writes in hexadecimal digits
	}
	return key
}
