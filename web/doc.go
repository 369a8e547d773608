// Package web serves metrics at /metrics, and at /healthz and /readyz whether all is well.
//
// A Site is told by package conf which targets there are and where to listen, from one goroutine.
// The HTTP server has goroutines of its own, which only read the list of targets, and each target's
// Stats; any goroutine may read these. Close returns when no request is being answered any more.
package web
