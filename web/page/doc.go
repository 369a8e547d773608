// Package page has the pages: what each reads, and how it is shown as HTML and as JSON. A page is a
// Kind. It turns a request (Asked) into Content; the package shows that by a template, or as JSON.
//
// Nothing here keeps state; any goroutine may call it.
package page
