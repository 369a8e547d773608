// Package door looks, before a table is served, who beside the trusted could turn it against the
// serving role: whose code would run with it, whose rights would let theirs run, who could put
// something else in its place. Each of them is a Finding, with the statement that mends it.
//
// sql/door has the statements; they only read the catalogs, which every role may. Look brings their
// rows together and grades them. Nothing here keeps anything from one look to the next: any
// goroutine may call it, with a connection that it owns.
package door
