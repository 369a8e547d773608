package server

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are picked below those that systems hand out for outgoing connections (32768 and up on
// Linux), or such a connection could take the port while the server is down between Crash and
// Restart.
const (
	firstPort = 20000
	lastPort  = 32000
)

func freePort() (int, error) {
	for range 100 {
		if port := firstPort + rand.IntN(lastPort-firstPort); portIsFree(port) {
			return port, nil
		}
	}
	return 0, errors.New("no free TCP port on 127.0.0.1")
}

// portIsFree tells whether nobody listens on a port of 127.0.0.1.
func portIsFree(port int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}
