package fake

import (
	"bytes"
	"slices"
	"strings"
)

// Way is one kind of wrong answer.
type Way struct {
	Name   string
	Change func(right []Message) Answer
}

// Ways are the kinds of wrong answers, for every exchange.
func Ways() []Way { return slices.Concat(rowWays(), messageWays(), failureWays(), byteWays()) }

// each replaces each message by those that change returns for it.
func each(right []Message, change func(Message) []Message) Answer {
	var all []Message
	for _, m := range right {
		all = append(all, change(m)...)
	}
	return Right(all)
}

// of changes the messages of one kind.
func of(kind byte, name string, change func(Message) []Message) Way {
	return Way{name, func(right []Message) Answer {
		return each(right, func(m Message) []Message {
			if m.Kind != kind {
				return []Message{m}
			}
			return change(m)
		})
	}}
}

// first sends messages before the right ones.
func first(name string, more ...Message) Way {
	return Way{name, func(right []Message) Answer { return Right(slices.Concat(more, right)) }}
}

// rows replaces each row by other messages.
func rows(name string, change func([][]byte) []Message) Way {
	return of('D', name, func(m Message) []Message { return change(m.Values()) })
}

// values replaces each value of a row.
func values(name string, value []byte) Way {
	return rows(name, func(row [][]byte) []Message {
		for i := range row {
			row[i] = value
		}
		return []Message{Row(row...)}
	})
}

func rowWays() []Way {
	return []Way{
		rows("no row", func([][]byte) []Message { return nil }),
		rows("a row without columns", func([][]byte) []Message { return []Message{Row()} }),
		rows("one column", func(row [][]byte) []Message { return []Message{Row(row[:min(1, len(row))]...)} }),
		rows("a column less", func(row [][]byte) []Message { return []Message{Row(row[min(1, len(row)):]...)} }),
		rows("columns too many", func(row [][]byte) []Message { return []Message{Row(append(row, make([][]byte, 3000)...)...)} }),
		rows("rows too many", func(row [][]byte) []Message { return repeated(Row(row...), 50) }),
		rows("a row more, without columns", func(row [][]byte) []Message { return []Message{Row(row...), Row()} }),
		rows("two descriptions", func(row [][]byte) []Message {
			return []Message{Columns(23, "a", "b"), Columns(25), Row(row...), Columns(16, strings.Repeat("c", 100_000))}
		}),
		values("nulls", nil),
		values("empty strings", []byte{}),
		values("long strings", bytes.Repeat([]byte("long"), 1<<18)),
		values("text", []byte("2024-01-01 00:00:00+00")),
		values("letters", []byte("f")),
		values("a moment before 2000", bytes.Repeat([]byte{0xff}, 8)),
		values("the last moment", []byte("\x7f\xff\xff\xff\xff\xff\xff\xff")),
		values("the first moment", []byte("\x80\x00\x00\x00\x00\x00\x00\x00")),
		values("no characters", []byte("\xff\x00\xfe")),
	}
}

// messageWays send unexpected kinds of messages, or messages in another order.
func messageWays() []Way {
	all := []Way{
		{"nothing", func([]Message) Answer { return Answer{} }},
		{"all twice", func(right []Message) Answer { return Right(slices.Repeat(right, 2)) }},
		{"the other way round", func(right []Message) Answer {
			all := slices.Clone(right)
			slices.Reverse(all)
			return Right(all)
		}},
		first("ready too soon", Ready('I')),
		of('C', "another tag", func(Message) []Message { return []Message{Complete(strings.Repeat("ROLLBACK\xff", 1000))} }),
		first("a thousand notices", repeated(Notice("S", "NOTICE\xff", "C", "\xff", "M", strings.Repeat("n\xff", 500)), 1000)...),
		first("a thousand parameters", append(repeated(Parameter("client_encoding", "KOI8R\xff"), 1000),
			Parameter("session_authorization", "x"), Parameter("", ""))...),
		first("notifications", repeated(Message{'A', bodies['A']}, 100)...),
	}
	for _, status := range []byte("ITEX\x00") {
		all = append(all, of('Z', "ready as "+string(status), func(Message) []Message { return []Message{Ready(status)} }))
	}
	for _, kind := range []byte("123ACDEGHIKNRSTVWZcdnstv") {
		all = append(all, of(kind, "without "+string(kind), func(Message) []Message { return nil }), instead(kind), before(kind))
	}
	return all
}

func repeated(m Message, times int) []Message { return slices.Repeat([]Message{m}, times) }

// bodies has a possible body for each kind of message.
var bodies = map[byte][]byte{
	'A': append([]byte{0, 0, 0, 1}, text("channel", "payload")...), 'C': text("SELECT 1"), 'D': Row([]byte{1}).Body, 'E': Failure("S", "ERROR").Body,
	'G': {0, 0, 0}, 'H': {0, 0, 0}, 'K': Key(1, "fake").Body, 'N': Notice("S", "NOTICE").Body, 'R': {0, 0, 0, 0}, 'S': text("name", "value"),
	'T': Columns(23, "a").Body, 'V': {0xff, 0xff, 0xff, 0xff}, 'W': {0, 0, 0}, 'Z': {'I'}, 'd': []byte("copied"), 't': {0, 0}, 'v': make([]byte, 8),
}

func instead(kind byte) Way {
	return Way{"only " + string(kind), func([]Message) Answer {
		return Answer{Bytes: Message{kind, bodies[kind]}.Bytes(), Failed: kind == 'E'}
	}}
}

func before(kind byte) Way {
	return Way{"with " + string(kind), func(right []Message) Answer {
		return Answer{Bytes: Bytes(slices.Concat([]Message{{kind, bodies[kind]}}, right)), Failed: kind == 'E'}
	}}
}
