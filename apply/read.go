package apply

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// readAll reads no more than limit bytes; longer is an error.
func readAll(from io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("is longer than %d bytes", limit)
	}
	return data, err
}

// reasonOf is an error of the file system without the path, which stands before it already.
func reasonOf(err error) string {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err.Error()
	}
	return err.Error()
}
