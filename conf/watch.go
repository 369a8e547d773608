package conf

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/rs/zerolog"

	"pgtaskd/exec/fault"
	"pgtaskd/routine"
)

// settle is how long after the first sign of a change the file is looked at:
// an editor's saving and the exchange of a link are several steps.
const settle = 100 * time.Millisecond

// watcher tells when a file may have changed, also when one of the symbolic
// links that lead to it has: Kubernetes exchanges a link to a folder.
type watcher struct {
	path    string
	log     zerolog.Logger
	changed chan struct{} // poked, never closed; capacity 1, so pokes coalesce

	crew   *routine.Group
	notify *fsnotify.Watcher
	ended  chan struct{}
	steps  []string // only used by the goroutine of run, as is fault
	fault  string   // last one logged
}

// watch begins to watch the file at path, which must be absolute. Without help
// from the system it logs that and never reports a change.
func watch(path string, log zerolog.Logger) *watcher {
	w := &watcher{path: path, log: log, changed: make(chan struct{}, 1), ended: make(chan struct{}), crew: routine.New(context.Background())}
	var err error
	if w.notify, err = fsnotify.NewWatcher(); err != nil {
		log.Warn().Err(err).Msg("cannot watch the file; SIGHUP reloads the configuration")
		close(w.ended)
		return w
	}
	w.follow()
	w.crew.Go(func() {
		defer close(w.ended)
		if err := w.crew.Call(w.run); err != nil {
			fault.Advised(log.Error(), err).Msg("file watcher failed; SIGHUP reloads the configuration")
		}
	})
	return w
}

// close returns when the watcher's goroutine has ended.
func (w *watcher) close() {
	if w.notify != nil {
		_ = w.notify.Close() // nothing is lost that is still needed
	}
	<-w.ended
}

func (w *watcher) run() error {
	var due <-chan time.Time // nil while nothing has happened
	for {
		select {
		case event, ok := <-w.notify.Events:
			if !ok {
				return nil
			}
			if due == nil && w.concerns(event.Name) {
				due = time.After(settle)
			}
		case err, ok := <-w.notify.Errors:
			if !ok {
				return nil
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) { // the lost event may have been ours
				due = time.After(settle)
			} else {
				w.warn(err)
			}
		case <-due:
			due = nil
			w.follow() // before the file is read, so that no change falls in between
			select {
			case w.changed <- struct{}{}:
			default:
			}
		}
	}
}

// concerns reports whether name is a step on the way, or the folder of one.
func (w *watcher) concerns(name string) bool {
	return slices.ContainsFunc(w.steps, func(step string) bool {
		return name == step || name == filepath.Dir(step)
	})
}

// follow watches the folders that matter now, and no others.
func (w *watcher) follow() {
	w.steps = steps(w.path)
	var wanted []string
	for _, step := range w.steps {
		wanted = append(wanted, filepath.Dir(step))
	}
	for _, folder := range w.notify.WatchList() {
		if !slices.Contains(wanted, folder) {
			_ = w.notify.Remove(folder) // it may be gone by itself
		}
	}
	for _, folder := range wanted {
		if err := w.notify.Add(folder); err != nil {
			w.warn(err)
		}
	}
}

func (w *watcher) warn(err error) {
	if err.Error() != w.fault {
		w.fault = err.Error()
		w.log.Warn().Err(err).Msg("file watcher may miss changes; SIGHUP reloads the configuration")
	}
}

// steps are the names whose change can make path lead to another file: the symbolic links on its
// way, and at last the file, or the first name that is missing. Their folders hold no links.
func steps(path string) []string {
	const mostLinks = 40 // the kernel follows no more
	var found []string
	folder, names := "/", split(path)
	for len(names) > 0 && len(found) < mostLinks {
		step := filepath.Join(folder, names[0])
		names = names[1:]
		_, missing := os.Lstat(step)
		link, err := os.Readlink(step)
		switch {
		case err == nil:
			found = append(found, step)
			names = append(split(link), names...)
			if filepath.IsAbs(link) {
				folder = "/"
			}
		case missing != nil || len(names) == 0:
			return append(found, step)
		default:
			folder = step
		}
	}
	return found
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}
