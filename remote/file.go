package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"pgtaskd/routine"
)

// longestFile limits files that a configuration or connection string names, in bytes.
const longestFile = 8 << 20

// ReadFile reads a regular file, also through a link. It never blocks: a pipe or a device is an
// error, and so is a file of more than 8 MB.
func ReadFile(path string) ([]byte, error) {
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err == nil {
		err = plain(info, path)
	}
	if err != nil {
		return nil, err
	}
	return readAll(file, path)
}

// ReadInput reads a file of any kind, such as the pipe of a process substitution, until ctx ends.
func ReadInput(ctx context.Context, path string) ([]byte, error) {
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	defer routine.New(ctx).When(ctx, func() { _ = file.SetReadDeadline(time.Unix(1, 0)) })()
	data, err := readAll(file, path)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = ctx.Err()
	}
	return data, err
}

// open opens a file without waiting for the writer of a pipe.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// plain refuses files that could block a reader, or that are too long. Reading a folder fails
// anyway.
func plain(info fs.FileInfo, path string) error {
	switch {
	case !info.Mode().IsRegular() && !info.IsDir():
		return &fs.PathError{Op: "read", Path: path, Err: errors.New("is not a regular file")}
	case info.Size() > longestFile:
		return &fs.PathError{Op: "read", Path: path, Err: errTooLong}
	}
	return nil
}

// readable refuses a file that could block its reader. A missing file is no error.
func readable(path string) error {
	info, err := os.Stat(path)
	nothing, none := os.Stat(os.DevNull)
	if err != nil || none == nil && os.SameFile(info, nothing) {
		return nil
	}
	return plain(info, path)
}

// checkFiles refuses files that could block pgconn or never end.
func (s Settings) checkFiles() error {
	for _, keyword := range []string{"passfile", "sslcert", "sslkey", "sslrootcert"} {
		if s[keyword] == "" {
			continue
		}
		if err := readable(s[keyword]); err != nil {
			return badFile(keyword, err)
		}
	}
	return nil
}

var errTooLong = fmt.Errorf("is longer than %d bytes", longestFile)

func readAll(file *os.File, path string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(file, longestFile+1))
	if err == nil && len(data) > longestFile {
		err = &fs.PathError{Op: "read", Path: path, Err: errTooLong}
	}
	return data, err
}
