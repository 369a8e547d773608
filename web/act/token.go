package act

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

const (
	tokenFor   = 10 * time.Minute
	tokensMost = 100 // of each user
)

// tokens are those of first requests. Any goroutine may use them.
type tokens struct {
	now func() time.Time

	mu    sync.Mutex
	given map[[sha256.Size]byte]given // by the hash of the token, so that looking one up tells nothing about it
}

// given is what a token stands for.
type given struct {
	user    string
	meant   string // a hash of target, act, filter and data
	matched int64
	at      time.Time
}

func newTokens(now func() time.Time) *tokens {
	return &tokens{now: now, given: map[[sha256.Size]byte]given{}}
}

// give makes a token. A user who has too many loses the oldest one.
func (t *tokens) give(user, meant string, matched int64) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var oldest [sha256.Size]byte
	n := 0
	for hash, g := range t.given {
		switch {
		case t.now().Sub(g.at) >= tokenFor:
			delete(t.given, hash)
		case g.user == user:
			if n++; n == 1 || g.at.Before(t.given[oldest].at) {
				oldest = hash
			}
		}
	}
	if n >= tokensMost {
		delete(t.given, oldest)
	}
	token := rand.Text()
	t.given[sha256.Sum256([]byte(token))] = given{user, meant, matched, t.now()}
	return token
}

// take uses a token up, and returns how many tasks matched. It fails if the token is not for this.
func (t *tokens) take(token, user, meant string) (matched int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	hash := sha256.Sum256([]byte(token))
	g, ok := t.given[hash]
	if !ok || g.user != user || g.meant != meant || t.now().Sub(g.at) >= tokenFor {
		return 0, false
	}
	delete(t.given, hash)
	return g.matched, true
}
