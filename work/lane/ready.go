package lane

// readySet counts the tasks that are due and not read, and knows their ids. Lanes have the tasks.
type readySet[T Holder] struct {
	n       int
	known   idSet      // a scan may bring a task again
	filling idSet      // those of the fill under way that have not been read since, nil when there is none
	chosen  []*lane[T] // with tasks in the read under way
}

// add makes a task of a lane ready; false: it is already.
func (r *readySet[T]) add(l *lane[T], rank Rank) (added bool) {
	if added = r.known.add(rank.ID); added {
		l.ready.push(rank)
		r.n++
	}
	if r.filling != nil && r.filling.add(rank.ID) {
		l.fresh = append(l.fresh, rank)
	}
	return added
}

// choose takes the lane's first task out, to be read.
func (r *readySet[T]) choose(l *lane[T]) int64 {
	top := l.ready.remove(0)
	r.known.remove(top.ID)
	r.n--
	if l.fetching == 0 || top.before(l.best) {
		l.best = top
	}
	if l.fetching++; l.fetching == 1 {
		r.chosen = append(r.chosen, l)
	}
	return top.ID
}

// filled ends a fill: what was gathered, and not read since, takes the place of what was known.
// False: there was no fill.
func (r *readySet[T]) filled(lanes map[Key]*lane[T]) bool {
	found := r.filling
	if found == nil {
		return false
	}
	r.known, r.filling, r.n = idSet{}, nil, 0
	for _, l := range lanes {
		l.ready = l.fresh[:0]
		for _, rank := range l.fresh {
			if found.remove(rank.ID) && r.known.add(rank.ID) {
				l.ready.push(rank)
			}
		}
		l.fresh = nil
		r.n += len(l.ready)
	}
	return true
}

// idSet is a set of task ids. Ids come from a sequence and lie close together, so that a block of
// 64 in a word makes a million of them cost some hundred kilobytes, where a map would take forty
// megabytes.
type idSet map[int64]uint64

// add returns false when the id was a member already.
func (s idSet) add(id int64) bool {
	block, bit := id>>6, uint64(1)<<(id&63)
	word := s[block]
	if word&bit != 0 {
		return false
	}
	s[block] = word | bit
	return true
}

// remove returns false when the id was no member.
func (s idSet) remove(id int64) bool {
	block, bit := id>>6, uint64(1)<<(id&63)
	word, rest := s[block], s[block]&^bit
	if rest == 0 {
		delete(s, block)
	} else {
		s[block] = rest
	}
	return word != rest
}
