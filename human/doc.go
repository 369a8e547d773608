// Package human writes values as people do. It owns nothing; any package and any goroutine may call
// it.
package human
