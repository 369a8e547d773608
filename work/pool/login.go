package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"pgtaskd/exec"
	"pgtaskd/remote"
)

// A task holds its place in run while its session is opened. How long a login of its role takes is
// up to others: the role can set a password of many iterations, and the server can ask a service of
// somebody's. So of the logins of one role only one at a time may take longer than loginQuick. Once
// one has, they are made one at a time, and each that is quick lets one more be made at once. A
// task for whose login there is no room waits outside of run.
const (
	loginQuick = time.Second
	loginsMany = 32                     // at once, from which on nothing bounds them
	loginLater = time.Second            // until a login is tried again for which there was no room
	loginEach  = 100 * time.Millisecond // between two of those
)

// logins are those of tasks' roles in the target's own database. Any goroutine may use it.
type logins struct {
	mu sync.Mutex
	of map[string]*loginsOf // of roles with some under way, or bounded
}

// loginsOf are those of one role.
type loginsOf struct {
	underWay int
	most     int       // at once; 0: any number
	turn     time.Time // when the last one that was put off is tried again
}

// PutOff is the error of a login for which there is no room, as those of its role take long.
type PutOff struct {
	After time.Duration
	Cause error // nil: it was not begun
}

func (e *PutOff) Error() string {
	text := fmt.Sprintf("logins of the role take longer than %s, so this one is tried in %s", loginQuick, e.After)
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap is why it was given up.
func (e *PutOff) Unwrap() error { return e.Cause }

// login logs in as a role, where there is room.
func (l *logins) login(ctx context.Context, role string, do func(context.Context) error) error {
	limit, err := l.begin(role)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	err = do(bounded)
	cut := err != nil && bounded.Err() != nil && ctx.Err() == nil || errors.As(err, new(*exec.Costly))
	return l.end(role, cut || time.Since(began) >= loginQuick, cut, err)
}

// begin tells how long a login may take.
func (l *logins) begin(role string) (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.of[role]
	switch {
	case of == nil:
		of = &loginsOf{}
		l.of[role] = of
	case of.most > 0 && of.underWay >= of.most:
		return 0, of.later(nil)
	}
	if of.underWay++; of.underWay == 1 {
		return remote.ConnectLimit, nil
	}
	return loginQuick, nil
}

// end returns the error of a login that has ended, or puts one off that was given up.
func (l *logins) end(role string, slow, cut bool, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.of[role]
	of.underWay--
	switch {
	case slow:
		of.most = 1
	case err == nil && of.most > 0:
		of.most = (of.most + 1) % loginsMany
	}
	if of.underWay == 0 && of.most == 0 {
		delete(l.of, role)
	}
	if cut {
		return of.later(err)
	}
	return err
}

// later puts a login off, each to another time, so that not all come again at once.
func (of *loginsOf) later(cause error) error {
	now := time.Now()
	after := min(max(of.turn.Add(loginEach).Sub(now), loginLater), patienceLong)
	of.turn = now.Add(after)
	return &PutOff{after, cause}
}
