package demo

import (
	"cmp"
	"slices"
	"time"
)

// lane is a line of the screen: the tasks of a group.
type lane struct {
	group string
	tasks []task // by id
}

// lanes gathers tasks by group, in the order in which the groups were first seen: seen holds those
// of the last look, and is brought up to date.
func lanes(tasks []task, seen *[]string) []lane {
	groups := map[string][]task{}
	for _, t := range tasks {
		if _, known := groups[t.group]; !known && !slices.Contains(*seen, t.group) {
			*seen = append(*seen, t.group)
		}
		groups[t.group] = append(groups[t.group], t)
	}
	*seen = slices.DeleteFunc(*seen, func(group string) bool { return groups[group] == nil })
	all := make([]lane, len(*seen))
	for i, group := range *seen {
		all[i] = lane{group, groups[group]}
	}
	return all
}

// newest keeps as many lanes as have room: those in which something has happened last.
func newest(all []lane, room int) []lane {
	if len(all) <= room {
		return all
	}
	byNews := slices.Clone(all)
	slices.SortStableFunc(byNews, func(a, b lane) int { return b.news().Compare(a.news()) })
	shown := byNews[:max(room, 0)]
	return slices.DeleteFunc(slices.Clone(all), func(l lane) bool {
		return !slices.ContainsFunc(shown, func(s lane) bool { return s.group == l.group })
	})
}

// face is the task that stands for the lane: the first that works, else the one of which there is
// the latest news.
func (l lane) face() task {
	if i := slices.IndexFunc(l.tasks, task.working); i >= 0 {
		return l.tasks[i]
	}
	return slices.MaxFunc(l.tasks, func(a, b task) int {
		return cmp.Or(a.news().Compare(b.news()), cmp.Compare(b.id, a.id))
	})
}

func (l lane) news() time.Time { return l.face().news() }

// news is when something worth showing has happened to the task. That a repetition waits is not:
// the output of the run before it is.
func (t task) news() time.Time {
	switch {
	case t.working():
		return t.seen
	case !t.ended() && (t.created == nil || t.repeats && t.parent != 0):
		return time.Time{}
	case !t.ended():
		return *t.created
	}
	return t.changed()
}

// strip is as many of the tasks as have room: all that wait or work if possible, before them the
// last that have ended. cut tells that more follow.
func (l lane) strip(room int) (shown []task, cut bool) {
	begin := max(len(l.tasks)-room, 0)
	if open := slices.IndexFunc(l.tasks, func(t task) bool { return !t.ended() }); open >= 0 {
		begin = min(begin, open)
	}
	end := min(begin+room, len(l.tasks))
	return l.tasks[begin:end], end < len(l.tasks)
}
