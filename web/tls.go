package web

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"

	"github.com/rs/zerolog"
)

// pair is a certificate with its key, read again when the files change. Any goroutine may use it.
type pair struct {
	cert, key string
	log       zerolog.Logger

	mu      sync.Mutex
	seen    string // the state of the files when they were last read
	current *tls.Certificate
}

// newPair reads the files; without any it returns nil.
func newPair(cert, key string, log zerolog.Logger) (*pair, error) {
	if cert == "" {
		return nil, nil
	}
	p := &pair{cert: cert, key: key, log: log, seen: stamp(cert) + stamp(key)}
	read, err := tls.LoadX509KeyPair(cert, key)
	p.current = &read
	return p, err
}

// stamp changes with a file.
func stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintln(info.Size(), info.ModTime().UnixNano())
}

// config returns what a connection needs.
func (p *pair) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: p.get}
}

// get returns the pair for a handshake. If the new files do not fit each other, the pair before
// stays.
func (p *pair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := stamp(p.cert) + stamp(p.key)
	if now == p.seen {
		return p.current, nil
	}
	p.seen = now
	read, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err != nil {
		p.log.Warn().Err(err).Str("cert", p.cert).Str("key", p.key).Msg("cannot read the new certificate; the one before stays")
		return p.current, nil
	}
	p.current = &read
	p.log.Info().Str("cert", p.cert).Msg("certificate read again")
	return p.current, nil
}
