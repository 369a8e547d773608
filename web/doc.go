// Package web is the HTTP server: one table of routes with the role that each needs. It serves the
// page, the metrics and the health of the controller.
//
// One goroutine of package conf tells a Site its targets and its address. The HTTP server has its
// own goroutines. They only read the list of targets and each target's Stats; any goroutine may
// read these. Close waits until no request is being answered.
package web
