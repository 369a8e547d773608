package page

// Demo is what the demo adds to the page. Any goroutine may call its functions.
type Demo struct {
	Yours func(id int64) bool // whether somebody else than the demo has inserted a task
	Kill  func()              // ends the leading controller as a crash would
}

// Yours reports whether a task is to be marked as the visitor's own.
func (s *Sheet) Yours(id int64) bool { return s.Asked.Demo != nil && s.Asked.Demo.Yours(id) }
