package lane

// idSet is a set of task ids. Ids come from a sequence and lie close together, so that a block of
// 64 in a word makes a million of them cost some hundred kilobytes, where a map would take forty
// megabytes. The word used last is kept apart, since the next id is mostly of the same block.
type idSet struct {
	words map[int64]uint64
	block int64 // that of word
	word  uint64
}

func newIDSet() *idSet { return &idSet{words: map[int64]uint64{}} }

func (s *idSet) turnTo(block int64) {
	if s.block == block {
		return
	}
	if s.word == 0 {
		delete(s.words, s.block)
	} else {
		s.words[s.block] = s.word
	}
	s.block, s.word = block, s.words[block]
}

// add returns false when the id was a member already.
func (s *idSet) add(id int64) bool {
	s.turnTo(id >> 6)
	bit := uint64(1) << (id & 63)
	if s.word&bit != 0 {
		return false
	}
	s.word |= bit
	return true
}

func (s *idSet) has(id int64) bool {
	s.turnTo(id >> 6)
	return s.word&(1<<(id&63)) != 0
}

func (s *idSet) remove(id int64) {
	s.turnTo(id >> 6)
	s.word &^= 1 << (id & 63)
}
