package work

import (
	"context"
	"math"

	"pgtaskd/work/run"
)

// shown is what the sessions of a group show. Few groups come again and again.
func (l *loop) shown(group string) [][2]string {
	shows, known := l.shows[group]
	if known {
		return shows
	}
	shows = showsOf(l.target, group)
	if len(group) <= shownLongest {
		if len(l.shows) >= shownMost {
			clear(l.shows)
		}
		l.shows[group] = shows
	}
	return shows
}

func showsOf(t Target, group string) [][2]string {
	return [][2]string{{"application_name", sessionName(t, group)}, {"pg_task.group", group}}
}

// Of so many groups that is kept, and of names of so many bytes: two megabytes.
const (
	shownMost    = 5000
	shownLongest = 100
)

// initial are the settings that a session has from its start. They go into a packet that the server
// takes up to 10,000 bytes of.
func initial(target Target, group string) [][2]string {
	settings := append(run.Parameters(target.Schema, target.Table, "", "", 1), [2]string{"application_name", sessionName(target, group)})
	if len(group) < 1000 {
		settings = append(settings, [2]string{"pg_task.group", group})
	}
	return settings
}

func (l *loop) sizes(ctx context.Context, id int64) (*run.Sizes, error) {
	s := &run.Sizes{}
	err := l.control.conn.QueryRow(ctx, l.queries().Text("names"), id).
		Scan(&s.Group, &s.Names[0], &s.Remote, &s.Names[1], &s.Null, &s.Names[2], &s.Input, &s.Data)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// longestText is the longest text that is run.
func (t *Target) longestText() int64 {
	if t.DataLimit == 0 {
		return math.MaxInt64
	}
	return t.DataLimit
}
