package exec

import "unicode/utf8"

// part is what the output has begun, and may have to take back.
type part struct {
	start   int  // where it begins in the text
	wasOpen bool // the last line before it had not been ended

	quoted bool // the value under way is
	last   byte // of the pieces
	some   bool // there was one

	rune  [utf8.UTFMax]byte // the beginning of a character whose end comes with the next piece
	known int               // bytes of it
}

// startRow begins a row of a least width that comes in pieces, of startValue, piece, and endValue;
// endRow ends it. It is kept if all of it fits.
func (o *Output) startRow(least int) {
	o.showHeader()
	o.begin(max(least, 0), o.open)
}

func (o *Output) endRow() { o.end() }

func (o *Output) startValue(i int, null bool) {
	o.part.quoted = !null && o.isQuoted(i)
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

func (o *Output) endValue() {
	o.endRune()
	if o.part.quoted {
		o.add(o.quote)
	}
}

// startCopy begins a piece of the text of COPY, of a known length, that comes in pieces itself;
// endCopy ends it.
func (o *Output) startCopy(length int) {
	o.part.quoted, o.part.some = false, false
	if !o.current.copy {
		o.CopyOut(false)
	}
	if !o.binary {
		o.begin(length, o.open && !o.current.copied)
	}
}

func (o *Output) endCopy() {
	o.endRune()
	o.current.copied = true
	if !o.over && o.part.some {
		o.open = o.part.last != '\n'
	}
	o.end()
}

// piece takes the next bytes of a value, or of the text of COPY.
func (o *Output) piece(p []byte) {
	if o.over || o.binary || len(p) == 0 {
		return
	}
	o.part.last, o.part.some = p[len(p)-1], true
	if o.charset == nil {
		p = o.whole(p)
	}
	if o.limit > 0 && int64(len(o.text)+len(p)) > o.limit {
		o.takeBack()
		return
	}
	o.room(len(p))
	o.value(p, o.part.quoted)
	o.end()
}

// whole completes the character that the piece before has begun, and keeps back the one that is not
// whole at the end of this one.
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

// add writes what stands between values.
func (o *Output) add(text string) {
	if o.over {
		return
	}
	o.room(len(text))
	o.text = append(o.text, text...)
	o.end()
}
