package page

import (
	"pgtaskd/web/edit"
)

// PreviewKind is the page that says what an act on many tasks will do. It answers POST only, so its
// links lead to the list of the tasks.
var PreviewKind = Kind{Path: "/tasks", Name: "act"}

// Preview is what that page shows.
type Preview struct {
	edit.Shown
	What    string // will happen
	Count   int64
	Beyond  bool // there may be more
	Token   string
	Missing string // why it cannot be done
	Back    string // URL of the list
	Fields  []Field
}

// Field is a parameter that a form sends again.
type Field struct{ Name, Value string }
