package servertest

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"testing"
)

// Verifier is a password as a server stores it, with so many iterations of SCRAM.
func Verifier(t testing.TB, password string, iterations int) string {
	t.Helper()
	salted, err := pbkdf2.Key(sha256.New, password, []byte("salt"), iterations, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(key []byte, of string) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(of))
		return mac.Sum(nil)
	}
	stored := sha256.Sum256(sum(salted, "Client Key"))
	base := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, base([]byte("salt")), base(stored[:]), base(sum(salted, "Server Key")))
}
