// Package proc reads the resources that processes use, if the system shows them.
package proc
