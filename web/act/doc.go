// Package act answers the requests that change something: acts on one task, on all that a filter
// matches, and on groups.
//
// An act on one task or group is one transaction. One on many needs two requests: the first says
// what would happen, and its token lets the second do that in the background. Such an act is a row
// of the table of acts beside the tasks. Each transaction changes some tasks and writes into that
// row how far it is: so after a crash it goes on where it was, and meets no task twice. The row's
// lock lets one controller at a time go on with it.
//
// One goroutine calls Show and Close; any may call the others. A goroutine of its own works in the
// background.
package act
