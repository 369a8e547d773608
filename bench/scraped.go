package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"time"
)

// scraped is the cost of reading the metrics each second, for a controller with many idle targets.
type scraped struct {
	count   int
	watched time.Duration
	bar     float64

	stand *stand // nil: not made yet
}

func (r *scraped) title() string {
	return fmt.Sprintf("%d idle targets, metrics read each second", r.count)
}

func (r *scraped) measure(ctx context.Context, s *stand) (_ []figure, err error) {
	if _, is := s.controller.(*built); !is { // a controller inside this program serves no pages
		return nil, nil
	}
	if r.stand == nil {
		if r.stand, err = s.another(ctx, "scraped"); err != nil {
			return nil, err
		}
		if err := r.stand.db.install(ctx, tableNames(r.count)...); err != nil {
			return nil, err
		}
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	config := map[string]any{"http": map[string]any{"listen": address}, "targets": r.stand.db.targets(r.count, 0)}
	var without, with float64
	err = r.stand.serveConfigured(ctx, config, func(ctx context.Context, p *process) error {
		if err := r.stand.db.served(ctx, r.count, r.watched); err != nil {
			return err
		}
		if err := pause(ctx, r.watched); err != nil { // a target that has just begun is not idle yet
			return err
		}
		if without, err = p.share(ctx, r.watched, func(context.Context) error { return nil }); err != nil {
			return err
		}
		with, err = p.share(ctx, r.watched, func(ctx context.Context) error { return scrape(ctx, address) })
		return err
	})
	return []figure{{name: r.title() + ", more of a core", value: with - without, unit: "%", bar: r.bar}}, err
}

// scrape reads the metrics as Prometheus does, on its own connection.
func scrape(ctx context.Context, address string) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET /metrics HTTP/1.1\r\nHost: %s\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n", address); err != nil {
		return err
	}
	page, err := io.ReadAll(conn)
	if err == nil && !bytes.HasPrefix(page, []byte("HTTP/1.1 200 ")) {
		err = fmt.Errorf("metrics: %.100s", page)
	}
	return err
}

// freeAddress returns an address on which nobody listens now.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
