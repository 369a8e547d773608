// Package proc reads what processes use, where the system shows it.
package proc
