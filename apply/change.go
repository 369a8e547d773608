package apply

// Kind is the kind of a change of a job.
type Kind string

// The kinds, as the program shows them.
const (
	New     Kind = "+"
	Changed Kind = "~"
	Pruned  Kind = "-"
)

// Change is the change of one job.
type Change struct {
	Kind    Kind
	Key     string
	Columns []Diff // of a new job those that its file names
	Notes   []string
}

// Diff is a column with another value. nil is NULL.
type Diff struct {
	Column   string
	Old, New *string
}

// Result are the changes that Run has made, or would make.
type Result struct {
	Changes   []Change // in the order of the files, then of the keys
	Unchanged int
	Expired   []string // jobs whose until has passed, and of which nothing waits or runs
	Unnamed   []string // jobs of the owner that no file names, and that were not to be pruned
}

func same(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func pointer(text string) *string { return &text }
