// Package live sends pages to the browsers that have them open, as they change.
//
// A Hub has a view for each page that somebody watches. All streams of one view share its reads.
// Views of one server take turns: one goroutine for each server reads them, one at a time. It runs
// only while somebody watches. A stream is sent a part of the page when that has changed, and of its
// tables the rows that have.
//
// Any goroutine may use a Hub. Events runs in the goroutine of its request. Hub.mu guards the maps,
// and is held only for a moment; what was read last is an atomic pointer.
package live
