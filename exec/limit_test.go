package exec

import (
	"testing"

	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// newProxied is a bench whose sessions go through a proxy; the first is still to be opened.
func newProxied(t *testing.T) (*bench, *proxy.Proxy) {
	t.Helper()
	b := newBench(t)
	b.session.Close()
	p, err := proxy.Start(servertest.Server(t).Socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	b.dsn = p.DSN(b.dsn)
	return b, p
}
