package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// link is a client's connection, and the proxy's own to the server.
type link struct {
	proxy  *Proxy
	number int
	ctx    context.Context // ends when the link is cut
	cancel context.CancelFunc
	client *net.TCPConn

	mu     sync.Mutex
	server stream // nil before it is dialled, and if the link was cut before that
}

// stream is a TCP or unix connection.
type stream interface {
	net.Conn
	CloseWrite() error
}

// serve returns when both connections are closed.
func (l *link) serve() {
	defer l.proxy.forget(l)
	defer l.close()
	if l.await(false) != nil {
		return
	}
	server, err := l.dial()
	if err != nil {
		l.reset()
		return
	}
	var ways sync.WaitGroup
	ways.Go(func() { l.carry(l.fromClient(server), server) })
	ways.Go(func() { l.carry(l.forwardAll(bufio.NewReader(server), false, l.client), l.client) })
	ways.Wait()
}

func (l *link) dial() (stream, error) {
	network := "tcp"
	if strings.HasPrefix(l.proxy.server, "/") {
		network = "unix"
	}
	conn, err := new(net.Dialer).DialContext(l.ctx, network, l.proxy.server)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return nil, errors.Join(l.ctx.Err(), conn.Close())
	}
	l.server = conn.(stream) // both networks give one
	return l.server, nil
}

// carry ends one direction. If its end was regular, the other direction goes on until the peer ends
// it, too; else carry cuts the link.
func (l *link) carry(err error, to stream) {
	switch {
	case errors.Is(err, errPassedThenCut):
		l.close()
	case !errors.Is(err, io.EOF) || l.await(false) != nil || to.CloseWrite() != nil:
		l.reset()
	}
}

var (
	errCut           = errors.New("cut by the watcher")
	errPassedThenCut = errors.New("cut by the watcher after a message")
)

// fromClient forwards the client's messages until an error; io.EOF is the regular one.
func (l *link) fromClient(server stream) error {
	from := bufio.NewReader(l.client)
	m, err := readStartup(from)
	if err != nil {
		return err
	}
	if err := l.forward(m, true, server, true); err != nil {
		return err
	}
	return l.forwardAll(from, true, server)
}

// forwardAll forwards messages with a type byte until an error.
func (l *link) forwardAll(from *bufio.Reader, fromClient bool, to stream) error {
	for {
		fresh := from.Buffered() == 0
		m, err := readMessage(from)
		if err != nil {
			return err
		}
		if err := l.forward(m, fromClient, to, fresh); err != nil {
			return err
		}
	}
}

// forward passes a message on. It delays the first of the messages that arrived together.
func (l *link) forward(m message, fromClient bool, to stream, fresh bool) error {
	verdict := l.proxy.verdict(l.number, fromClient, m)
	if verdict == Cut {
		return errCut
	}
	if err := l.await(fresh); err != nil {
		return err
	}
	if _, err := to.Write(m.raw); err != nil {
		return err
	}
	if verdict == PassThenCut {
		return errPassedThenCut
	}
	return nil
}

// await returns when messages may pass (after the delay, if delayed), or when the link is cut.
func (l *link) await(delayed bool) error {
	if delayed {
		_, delay := l.proxy.holds()
		select {
		case <-time.After(delay):
		case <-l.ctx.Done():
			return l.ctx.Err()
		}
	}
	open, _ := l.proxy.holds()
	select {
	case <-open:
	case <-l.ctx.Done():
	}
	return l.ctx.Err()
}

// reset breaks both connections: their readers and writers get an error, and the client a reset.
func (l *link) reset() {
	_ = l.client.SetLinger(0) // it may be closed
	l.close()
}

// close ends both connections. Messages that were forwarded before still arrive.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancel()
	_ = l.client.Close() // it may be closed
	if l.server != nil {
		_ = l.server.Close()
	}
}
