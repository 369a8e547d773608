package work

// idSet is a set of task ids. Ids come from a sequence and lie close together, so that a block of 64 in a word makes a million
// of them cost some hundred kilobytes, where a map would take forty megabytes.
type idSet map[int64]uint64

// add returns false when the id was a member already.
func (s idSet) add(id int64) bool {
	word, bit := s[id>>6], uint64(1)<<(id&63)
	if word&bit != 0 {
		return false
	}
	s[id>>6] = word | bit
	return true
}

func (s idSet) remove(id int64) {
	word := s[id>>6] &^ (1 << (id & 63))
	if word == 0 {
		delete(s, id>>6)
		return
	}
	s[id>>6] = word
}
