package text

import "unicode/utf8"

// Values, which may come in pieces if they are too long to be held whole.

// StartValue begins the value of column i.
func (o *Output) StartValue(i int, null bool) { o.startValue(i, null, o.isQuoted(i)) }

func (o *Output) isQuoted(i int) bool { return i < len(o.current.quoted) && o.current.quoted[i] }

func (o *Output) startValue(i int, null, quoted bool) {
	o.part.quoted = !null && quoted
	if i > 0 {
		o.add(o.delimiter)
	}
	switch {
	case null:
		o.add(o.format.Null)
	case o.part.quoted:
		o.add(o.quote)
	}
}

// EndValue ends the value.
func (o *Output) EndValue() {
	o.endRune()
	if o.part.quoted {
		o.add(o.quote)
	}
	o.end()
}

// Piece takes the next bytes of a value, or of the text of COPY.
func (o *Output) Piece(p []byte) {
	if o.over || len(p) == 0 {
		return
	}
	o.part.last, o.part.some = p[len(p)-1], true
	p = o.whole(p)
	if o.limit > 0 && int64(len(o.text)+len(p)) > o.limit {
		o.takeBack()
		return
	}
	o.room(len(p))
	o.value(p, o.part.quoted)
	o.end()
}

// whole completes the character that the piece before has begun, and keeps back a character that
// this piece does not complete.
func (o *Output) whole(p []byte) []byte {
	for o.part.known > 0 && len(p) > 0 {
		if utf8.RuneStart(p[0]) {
			o.endRune()
			break
		}
		o.part.rune[o.part.known] = p[0]
		o.part.known++
		p = p[1:]
		if utf8.FullRune(o.part.rune[:o.part.known]) {
			o.endRune()
		}
	}
	for i := 1; i < utf8.UTFMax && i <= len(p); i++ {
		if tail := p[len(p)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				o.part.known = copy(o.part.rune[:], tail)
				p = p[:len(p)-i]
			}
			break
		}
	}
	return p
}

// endRune writes the character that has been kept back.
func (o *Output) endRune() {
	if o.part.known > 0 && !o.over {
		o.value(o.part.rune[:o.part.known], o.part.quoted)
	}
	o.part.known = 0
}
