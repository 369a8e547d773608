// Package login tells who has sent a request, and lets nobody in who may not be.
//
// Users come from the configuration. A request names its user by a token or by a cookie, which is
// proved by that token: nothing is stored. Any goroutine may call everything here.
package login
