package exec

import (
	"net"
	"syscall"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestAReadUnderWayDoesNotHoldUpPresent: pgx reads in the background for a while if a write was
// slow, and holds the lock of the socket for reading meanwhile.
func TestAReadUnderWayDoesNotHoldUpPresent(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	reads, stop, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = raw.Read(func(uintptr) bool {
			close(reads)
			<-stop
			return true
		})
	}()
	<-reads
	seen := make(chan bool, 1)
	go func() { seen <- readable(conn) }()
	select {
	case is := <-seen:
		if is {
			t.Error("a silent connection is readable")
		}
	case <-time.After(servertest.Limit(10 * time.Second)):
		t.Error("waits for the read under way")
	}
	close(stop)
	<-ended
	_ = server.Close()
}
