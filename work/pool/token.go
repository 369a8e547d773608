package pool

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

// Token is what a session of another role than the target's has its next end written by: 32 random
// bytes that only we know, while the server knows their hash. It serves once. nil: there is none.
type Token []byte

// NewToken is one that nobody knows.
func NewToken() Token {
	token := make(Token, sha256.Size)
	_, _ = rand.Read(token) // never fails
	return token
}

// Hash is the SHA-256 of the token, nil where there is none.
func (t Token) Hash() []byte {
	if t == nil {
		return nil
	}
	sum := sha256.Sum256(t)
	return sum[:]
}

// Bytea writes bytes as the server reads a bytea.
func Bytea(b []byte) string { return `\x` + hex.EncodeToString(b) }
