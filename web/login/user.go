package login

// Role is what a person may do on the page.
type Role int

// Roles, from weak to strong. Each may do what those before it may.
const (
	Nobody   Role = iota // has not logged in
	Reader               // sees tasks, but for what is hidden from readers
	Operator             // sees all, and acts
)

// User is whoever has sent a request.
type User struct {
	Name string // "": no users are configured
	Role Role
}
