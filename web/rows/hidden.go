package rows

// Hidden says which columns somebody does not see. What is hidden is read nowhere, and nothing is
// searched in it.
type Hidden struct {
	Data, Input, Output bool
}
