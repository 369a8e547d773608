// Command chaos breaks everything around two controllers at random, again and again, while it
// inserts tasks all the time. Then it checks that the task table has kept its promises.
//
// docs/reliability.md lists the faults and the checks. sql/ has one check in each file; a check
// must return no row. The load, the live checks and the faults run at the same time. The seed
// decides the faults, so that a run can be repeated.
//
// Locks: report.mu guards the counters, which all goroutines write.
package main
