package fake

import "encoding/binary"

// Message is a message that a server sends.
type Message struct {
	Kind byte
	Body []byte
}

// Bytes returns the message with its length.
func (m Message) Bytes() []byte { return m.Claiming(uint32(len(m.Body) + lengthSize)) }

// Claiming returns the message with a false length.
func (m Message) Claiming(length uint32) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{m.Kind}, length), m.Body...)
}

// lengthSize is the size of the length, which counts itself.
const lengthSize = 4

// Bytes returns messages one after the other.
func Bytes(messages []Message) (all []byte) {
	for _, m := range messages {
		all = append(all, m.Bytes()...)
	}
	return all
}

// Authentication asks for a password, or says that none is needed: the number of the request, and
// its data.
func Authentication(number uint32, data string) Message {
	return Message{'R', append(binary.BigEndian.AppendUint32(nil, number), data...)}
}

// Parameter reports a setting.
func Parameter(name, value string) Message { return Message{'S', text(name, value)} }

// Key tells the client the key of its backend.
func Key(pid uint32, secret string) Message {
	return Message{'K', append(binary.BigEndian.AppendUint32(nil, pid), secret...)}
}

// Ready ends an answer, with the status of the transaction.
func Ready(status byte) Message { return Message{'Z', []byte{status}} }

// Complete ends a statement.
func Complete(tag string) Message { return Message{'C', text(tag)} }

// Columns describes a result whose columns are all of one type.
func Columns(oid uint32, names ...string) Message {
	body := binary.BigEndian.AppendUint16(nil, uint16(len(names)))
	for _, name := range names {
		body = append(body, text(name)...)
		body = append(body, 0, 0, 0, 0, 0, 0)
		body = binary.BigEndian.AppendUint32(body, oid)
		body = append(body, 0, 4, 0xff, 0xff, 0xff, 0xff, 0, 0)
	}
	return Message{'T', body}
}

// Row is a row of values; nil is NULL.
func Row(values ...[]byte) Message {
	body := binary.BigEndian.AppendUint16(nil, uint16(len(values)))
	for _, value := range values {
		if value == nil {
			body = binary.BigEndian.AppendUint32(body, ^uint32(0))
			continue
		}
		body = append(binary.BigEndian.AppendUint32(body, uint32(len(value))), value...)
	}
	return Message{'D', body}
}

// Values returns the values of a row that Row has made.
func (m Message) Values() (values [][]byte) {
	for rest := m.Body[2:]; len(rest) >= lengthSize; {
		length := int32(binary.BigEndian.Uint32(rest))
		rest = rest[lengthSize:]
		if length < 0 {
			values = append(values, nil)
			continue
		}
		values, rest = append(values, rest[:length]), rest[length:]
	}
	return values
}

// Failure is an error: pairs of a field's letter and its text.
func Failure(fields ...string) Message { return Message{'E', fielded(fields)} }

// Notice is a notice, with the same pairs.
func Notice(fields ...string) Message { return Message{'N', fielded(fields)} }

func fielded(fields []string) (body []byte) {
	for ; len(fields) > 1; fields = fields[2:] {
		body = append(append(body, fields[0]...), text(fields[1])...)
	}
	return append(body, 0)
}

// text encodes strings as the protocol does.
func text(all ...string) (body []byte) {
	for _, s := range all {
		body = append(append(body, s...), 0)
	}
	return body
}
