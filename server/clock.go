package server

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// faketime is where the library is that gives a program another clock.
var faketime = []string{"/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib*/faketime/libfaketimeMT.so.1", "/usr/local/lib/faketime/libfaketimeMT.so.1"}

// SetClock puts the server's clock forward from its next Restart on, by whole seconds, compared
// with the machine's. It takes the library faketime: install.sh clock.
func (s *Server) SetClock(ahead time.Duration) error {
	for _, pattern := range faketime {
		if paths, _ := filepath.Glob(pattern); len(paths) > 0 {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.environment = []string{"LD_PRELOAD=" + paths[0], fmt.Sprintf("FAKETIME=+%d", int(ahead.Seconds())), "FAKETIME_DONT_FAKE_MONOTONIC=1"}
			return nil
		}
	}
	return errors.New("the library faketime is missing: run server/install.sh clock")
}
