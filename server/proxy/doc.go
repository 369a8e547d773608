// Package proxy stands between clients and a throw-away PostgreSQL server, and does to their
// connections what networks do: it cuts, stalls, delays and refuses them, also at one particular
// message of the protocol.
//
// Tests and chaos start a Proxy and connect through it. Its methods may be called from any
// goroutine. A Watcher sees each message before it is forwarded, on the goroutine of that
// connection and direction, and may call the proxy's methods other than Stop.
//
// Locks: Proxy.mu guards the faults and the list of links, link.mu the connections of one link;
// both are held only in that order, and neither while a Watcher runs or a message is written.
package proxy
