package fake

import (
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
)

// The numbers of authentication messages.
const (
	authenticated = 0
	sasl          = 10
	saslContinue  = 11
	saslFinal     = 12
)

// authenticate lets the client in after it has proved by SCRAM that it knows the password. The
// client checks the server, too.
func (s *session) authenticate() error {
	if err := s.say(SASL, []Message{Authentication(sasl, "SCRAM-SHA-256\x00\x00")}); err != nil {
		return err
	}
	first, err := s.proof()
	if err != nil {
		return err
	}
	_, bare, _ := bytes.Cut(first, []byte("n,,"))
	_, nonce, _ := bytes.Cut(bare, []byte(",r="))
	greeting := fmt.Sprintf("r=%sfake,s=%s,i=1", nonce, base64.StdEncoding.EncodeToString([]byte("salt")))
	if err := s.say(Continue, []Message{Authentication(saslContinue, greeting)}); err != nil {
		return err
	}
	last, err := s.proof()
	if err != nil {
		return err
	}
	without, _, _ := bytes.Cut(last, []byte(",p="))
	key, err := pbkdf2.Key(sha256.New, Password, []byte("salt"), 1, sha256.Size)
	if err != nil {
		return err
	}
	signature := sum(sum(key, "Server Key"), fmt.Sprintf("%s,%s,%s", bare, greeting, without))
	if err := s.say(Final, []Message{Authentication(saslFinal, "v="+base64.StdEncoding.EncodeToString(signature))}); err != nil {
		return err
	}
	return s.say(Startup, []Message{
		Authentication(authenticated, ""), Parameter("client_encoding", "UTF8"), Parameter("server_version", "15.0"),
		Key(4711, "fake"), Ready('I'),
	})
}

// proof reads a message from the client.
func (s *session) proof() ([]byte, error) {
	if _, err := io.ReadFull(s.conn, []byte{0}); err != nil {
		return nil, err
	}
	return s.read()
}

func sum(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
