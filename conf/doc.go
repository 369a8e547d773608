// Package conf reads the configuration, and keeps one loop running for each of its targets.
//
// Parse turns JSON into targets and reports every fault with its line, column and path. Run and
// RunTargets supervise: they compare the targets that are wanted with those that are served,
// start new ones, hand over changes that need no drain, drain what was removed or changed, and
// wait for each loop to end before the next one of the same table starts.
//
// main calls Run for a configuration file, RunTargets for a connection string; the demo and the
// tests call RunTargets. The goroutine that calls them owns the supervisor and all its fields.
// Each target is served on a goroutine of its own, which reports its end through a channel.
//
// There are no locks.
package conf
