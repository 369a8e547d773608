// Package login finds out who has sent a request.
//
// Users come from the configuration. A request names its user by a token or by a cookie, which is
// proved by that token: nothing is stored. Any goroutine may call everything here.
package login
