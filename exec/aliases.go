package exec

import "pgtaskd/exec/text"

type (
	Failure = text.Failure
	Format  = text.Format
)

const TextLimit = text.Limit

func NewFailure(message, code string, more ...string) *Failure {
	return text.NewFailure(message, code, more...)
}

func ASCII(t string) string { return text.ASCII(t) }
