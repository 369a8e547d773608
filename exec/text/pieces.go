package text

import "unicode/utf8"

// What comes in pieces, as it is too long to be held whole.

// PieceMost is how long a piece may be, in bytes.
const PieceMost = 32 << 10

// part is what the output has begun, and may take back.
type part struct {
	start   int  // where it begins in the text
	wasOpen bool // the last line before it had not been ended

	quoted bool // the value under way is
	last   byte // of the pieces
	some   bool // there was one

	rune  [utf8.UTFMax]byte // the beginning of a character whose end comes with the next piece
	known int               // bytes of it
}

// StartRow begins a row that comes in pieces: StartValue, Piece and EndValue follow for each value.
// It returns false if a row of that least width does not fit.
func (o *Output) StartRow(least int) bool {
	o.showHeader()
	return o.begin(max(least, 0), o.open)
}

// StartValue begins the value of column i.
func (o *Output) StartValue(i int, null bool) { o.startValue(i, null, o.isQuoted(i)) }

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

// StartCopy begins a message of COPY of a known length; Piece and EndCopy follow. It returns false
// if the message is not kept.
func (o *Output) StartCopy(length int) bool {
	if o.binary {
		return false
	}
	o.part.quoted, o.part.some = false, false
	if !o.current.copy {
		o.CopyOut(false)
	}
	return o.begin(length, o.open && !o.current.copied)
}

// EndCopy ends the message.
func (o *Output) EndCopy() {
	o.endRune()
	o.current.copied = true
	if !o.over && o.part.some {
		o.open = o.part.last != '\n'
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

// add writes what stands between values.
func (o *Output) add(text string) {
	if o.over {
		return
	}
	o.room(len(text))
	o.text = append(o.text, text...)
	o.end()
}
