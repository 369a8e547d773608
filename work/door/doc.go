// Package door finds out, before a table is served, who besides the trusted roles could turn it
// against the serving role: whose code would run with its rights, who could let their own code run,
// who could replace an object that it uses. Each of these is a Finding, with a statement that mends
// it.
//
// The statements are in sql/door. They only read the catalogs, and every role may do that. Look
// combines and grades their rows. Nothing is kept between two looks: any goroutine may call the
// package, with a connection that it owns.
package door
