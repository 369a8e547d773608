// Package proxy stands between clients and a throw-away PostgreSQL server, and does to their
// connections what networks do: it cuts, stalls, delays and refuses them. It can do that at a
// certain message of the protocol.
//
// Tests and chaos start a Proxy and connect through it. Any goroutine may call its methods. A
// Watcher sees each message before the proxy forwards it. It runs on the goroutine of that
// connection and direction, and may call all methods of the proxy but Stop.
//
// Locks: Proxy.mu guards the faults and the list of links, link.mu the connections of one link. A
// goroutine that holds both has taken Proxy.mu first. It holds neither while a Watcher runs or
// while it writes a message.
package proxy
