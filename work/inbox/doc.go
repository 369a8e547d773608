// Package inbox carries messages from runners to the loop. Runners see an Inbox as their Leader.
// They leave outcomes in it, and questions, and wait for the answers. The loop empties it with
// Take. It passes some messages on to other rooms, and answers the others itself on the control
// connection (Enlist, Answer).
//
// Any goroutine may leave a message. One mutex guards the messages, and is never held across a
// call. An Inbox outlasts terms.
package inbox
