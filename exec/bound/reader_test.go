package bound

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/text"
)

// backend has the encoded messages of a server.
type backend struct{ bytes.Buffer }

func (b *backend) say(messages ...pgproto3.BackendMessage) {
	for _, m := range messages {
		encoded, err := m.Encode(nil)
		if err != nil {
			panic(err)
		}
		b.Write(encoded)
	}
}

// readers split the bytes of a connection in different ways.
var readers = map[string]func(io.Reader) io.Reader{
	"all at once": func(r io.Reader) io.Reader { return r },
	"one by one":  iotest.OneByteReader,
	"by halves":   iotest.HalfReader,
	"at random":   func(r io.Reader) io.Reader { return &randomReader{r} },
}

type randomReader struct{ io.Reader }

func (r *randomReader) Read(p []byte) (int, error) {
	return r.Reader.Read(p[:1+rand.IntN(min(len(p), 5000))])
}

// heard describes the messages that come through a Reader. Of long texts it shows only the size.
func heard(b *Reader) (all []string, err error) {
	f := pgproto3.NewFrontend(b, io.Discard)
	for {
		m, err := f.Receive()
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return all, nil
		case err != nil:
			return all, err
		}
		text := fmt.Sprintf("%T", m)[len("*pgproto3."):]
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			text += fmt.Sprintf(" %s %s %d+%d %s", m.Severity, m.Code, len(m.Message), len(m.Detail), m.Routine)
		case *pgproto3.NoticeResponse:
			text += fmt.Sprintf(" %d", len(m.Message))
		case *pgproto3.DataRow:
			text += fmt.Sprintf(" %d", len(m.Values))
		case *pgproto3.CopyData:
			text += fmt.Sprintf(" %d", len(m.Data))
		case *pgproto3.ParameterStatus:
			text += " " + m.Name
		}
		all = append(all, text)
	}
}

// TestBound: short messages pass unchanged, and long ones pass as far as a row shows them, for
// every way to split the bytes.
func TestBound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 90_000) // longer than the limit of an error
	row := func(values ...string) *pgproto3.DataRow {
		d := &pgproto3.DataRow{}
		for _, value := range values {
			d.Values = append(d.Values, []byte(value))
		}
		return d
	}
	var server backend
	server.say(
		&pgproto3.RowDescription{}, row("1"), row("2", long, "3"), row(long), row("4"), &pgproto3.CopyData{Data: []byte(long)}, &pgproto3.CopyData{Data: []byte("5")},
		&pgproto3.ParameterStatus{Name: "a", Value: long}, &pgproto3.ParameterStatus{Name: "b", Value: "1"}, &pgproto3.NotificationResponse{Channel: "c", Payload: long},
		&pgproto3.NoticeResponse{Severity: "NOTICE", Code: "00000", Message: long},
		&pgproto3.ErrorResponse{Severity: "ERROR", Code: "P0001", Message: long, Detail: long, Hint: long, Routine: "exec_stmt_raise"},
		&pgproto3.ErrorResponse{Severity: long, Code: long, Message: "m", Detail: long, Routine: long},
		&pgproto3.CommandComplete{CommandTag: []byte("SELECT 4")}, &pgproto3.ReadyForQuery{TxStatus: 'I'},
	)
	want := []string{
		"RowDescription", "DataRow 1", "DataRow 1", "CopyData 1", "ParameterStatus b", "NoticeResponse 81904", "ErrorResponse ERROR P0001 81905+0 exec_stmt_raise",
		"ErrorResponse " + long[:startKept-1] + "  0+0 ", "CommandComplete", "ReadyForQuery",
	}
	for name, reader := range readers {
		got, err := heard(&Reader{from: reader(bytes.NewReader(server.Bytes())), greeted: true})
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %v, got\n%s", name, err, strings.Join(got, "\n"))
		}
	}
	got, err := heard(&Reader{from: &server, whole: true})
	if err != nil || strings.Join(got[:6], ", ") != "RowDescription, DataRow 1, DataRow 3, DataRow 1, DataRow 1, CopyData 1024" {
		t.Error(got, err)
	}
}

// TestFieldsWithoutEndAreNotKept: the memory for an error or notice does not grow with the number
// of its fields.
func TestFieldsWithoutEndAreNotKept(t *testing.T) {
	t.Parallel()
	for name, field := range map[string]string{
		"names": "S" + strings.Repeat("x", 254) + "\x00", "empty texts": "M\x00", "texts": "D" + strings.Repeat("x", 9<<10) + "\x00",
	} {
		for _, kind := range []byte{'E', 'N'} {
			const length = 4 << 20
			message := io.MultiReader(bytes.NewReader(binary.BigEndian.AppendUint32([]byte{kind}, 4+length)),
				io.LimitReader(&endless{message: bytes.Repeat([]byte(field), 100)}, length))
			kept, err := io.ReadAll(&Reader{from: message, greeted: true})
			if err != nil || len(kept) < len(field) || len(kept) > startKept+endKept+7 {
				t.Errorf("%s: %d bytes of a message %c are kept, %v", name, len(kept), kind, err)
			}
		}
	}
}

// TestWhereALongErrorIsCut: the Reader keeps the routine wherever it cuts the error.
func TestWhereALongErrorIsCut(t *testing.T) {
	t.Parallel()
	for length := startKept - 20; length < startKept; length++ {
		b := &backend{}
		b.say(&pgproto3.ErrorResponse{
			Severity: "ERROR", Code: "22012", Message: strings.Repeat("m", length),
			Detail: strings.Repeat("d", 10<<10), Routine: "r",
		})
		if all, err := heard(&Reader{from: b, greeted: true}); err != nil || len(all) != 1 || !strings.HasSuffix(all[0], " r") {
			t.Errorf("%d: %v, %v", length, all, err)
		}
	}
}

// TestLongRowAfterOthers: the output takes a long row after all earlier messages, even if they came
// in one read.
func TestLongRowAfterOthers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 20_000)
	var server backend
	server.say(
		&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("a")}, {Name: []byte("b")}}},
		&pgproto3.DataRow{Values: [][]byte{[]byte("1"), []byte("2")}}, &pgproto3.DataRow{Values: [][]byte{[]byte(long), nil}},
		&pgproto3.CommandComplete{CommandTag: []byte("SELECT 2")}, &pgproto3.ReadyForQuery{TxStatus: 'I'},
	)
	b := &Reader{from: &server, greeted: true}
	o := text.NewOutput(text.Format{Delimiter: '\t', Null: `\N`, Header: true}, 0)
	b.output = o
	f := pgproto3.NewFrontend(b, io.Discard)
	for done := false; !done; {
		m, err := f.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *pgproto3.RowDescription:
			o.Rows(m.Fields)
		case *pgproto3.DataRow:
			o.Row(m.Values)
		case *pgproto3.ReadyForQuery:
			done = true
		}
	}
	if got, _ := o.Text(); got != "a\tb\n1\t2\n"+long+"\t\\N" {
		t.Errorf("%.80q", got)
	}
}

// endless repeats a server's message forever.
type endless struct {
	message []byte
	left    []byte
}

func (e *endless) Read(p []byte) (n int, err error) {
	if len(e.left) == 0 {
		e.left = e.message
	}
	n = copy(p, e.left)
	e.left = e.left[n:]
	return n, nil
}

// TestBoundEndsWhatMakesNoSense: messages that no real server sends end the session, and use no
// memory first.
func TestBoundEndsWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	head := func(kind byte, length uint32) []byte { return binary.BigEndian.AppendUint32([]byte{kind}, length) }
	for name, test := range map[string]struct {
		message []byte
		greeted bool
	}{
		"a tag of 2 GB":                 {head('C', 1<<31-1), true},
		"a message of an unknown kind":  {head('!', 1<<30), true},
		"columns of 1 GB":               {head('T', 1<<30), true},
		"a negative length":             {head('D', 1<<31), true},
		"a length of nothing":           {head('D', 3), true},
		"settings without end at first": {encoded('S', []byte("a\x00b\x00")), false},
		"notices without end at first":  {encoded('N', []byte("SNOTICE\x00\x00")), false},
		"rows without end at first":     {encoded('D', []byte{0, 0}), false},
		"a row of 2 GB at first":        {head('D', 1<<31-1), false},
	} {
		b := &Reader{from: &endless{message: test.message}, greeted: test.greeted}
		if _, err := heard(b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestBoundGoesOn: after a time limit, the next read continues at the same byte.
func TestBoundGoesOn(t *testing.T) {
	t.Parallel()
	var server backend
	for range 3 {
		server.say(&pgproto3.ErrorResponse{Severity: "ERROR", Message: strings.Repeat("x", 100_000)}, &pgproto3.ReadyForQuery{TxStatus: 'I'})
	}
	f := pgproto3.NewFrontend(&Reader{from: &tiring{from: &server}, greeted: true}, io.Discard)
	for got := 0; got < 6; {
		_, err := f.Receive()
		var late net.Error
		switch {
		case err == nil:
			got++
		case !errors.As(err, &late):
			t.Fatal(got, err)
		}
	}
}

// tiring is a connection on which every second read meets a time limit.
type tiring struct {
	from io.Reader
	late bool
}

func (r *tiring) Read(p []byte) (int, error) {
	if r.late = !r.late; r.late {
		return 0, &net.OpError{Op: "read", Err: timeout{}}
	}
	return r.from.Read(p[:min(len(p), 3)])
}

type timeout struct{}

func (timeout) Error() string   { return "too late" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

// FuzzLongRow: a row taken in pieces makes the same text as a row taken whole.
func FuzzLongRow(f *testing.F) {
	f.Add("aä\"\\", "\xe2\x82", uint16(20_000), byte('"'), byte('\\'), byte('\t'), uint8(0))
	f.Add("€\xff\x00", "€", uint16(40_000), byte(0), byte(0), byte(0), uint8(200))
	f.Add("\xe4\xa4", "x", uint16(30_000), byte('\''), byte('\''), byte(','), uint8(80))
	f.Fuzz(func(t *testing.T, one, two string, times uint16, quote, escape, delimiter byte, limit uint8) {
		one = strings.Repeat(one, min(int(times), 300_000/(len(one)+1)))
		format := text.Format{Delimiter: delimiter, Escape: escape, Quote: quote, Null: "none", Header: true}
		values := [][]byte{[]byte(one), nil, []byte(two), {}}
		fields := []pgproto3.FieldDescription{{Name: []byte("a")}, {Name: []byte("b")}, {Name: []byte("c")}, {Name: []byte("d")}}
		row, err := (&pgproto3.DataRow{Values: values}).Encode(nil)
		if err != nil || len(row) <= messageMost+5 {
			return
		}
		copied, _ := (&pgproto3.CopyData{Data: append([]byte(one), two...)}).Encode(nil)
		valid := utf8.ValidString(one) && utf8.ValidString(two) && !strings.Contains(one+two, "\x00")
		most := int64(limit) << 13
		whole, pieces := text.NewOutput(format, most), text.NewOutput(format, most)
		for _, o := range []*text.Output{whole, pieces} {
			o.Rows(fields)
		}
		for range 2 {
			whole.Row(values)
		}
		whole.Complete(nil)
		whole.Copy(append([]byte(one), two...))
		b := &Reader{from: &randomReader{bytes.NewReader(append(append(append([]byte{}, row...), row...), copied...))}, output: pieces, greeted: true}
		if _, err := heard(b); err != nil {
			t.Fatal(err)
		}
		want, _ := whole.Text()
		got, _ := pieces.Text()
		if got != want && valid && whole.Over() == pieces.Over() {
			t.Errorf("%d and %d bytes, %t and %t: %.80q and %.80q", len(got), len(want), pieces.Over(), whole.Over(), got, want)
		}
		if limit > 0 && int64(len(got)) > most+100 {
			t.Errorf("%d bytes are kept, the limit is %d", len(got), most)
		}
	})
}
