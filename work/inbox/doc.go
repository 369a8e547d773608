// Package inbox is the way up from runners to the loop: it is the Leader that runners see. They
// leave outcomes there, and questions that they wait on. The loop takes out what others answer
// (Take), and answers the rest itself, in steps on the control connection (Enlist, Answer).
//
// Any goroutine may leave something. One mutex guards what was left; it is not held across a call.
// It outlasts terms.
package inbox
