//go:build slow

package attack

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// liar is a server that forwards PostgreSQL's answers, except one that it falsifies. The name of
// the database tells how and which: "no rows.2" falsifies the second.
type liar struct {
	listener net.Listener
	real     string // address of the server
	database string // the database to which it forwards
}

func newLiar(t *testing.T, database string) *liar {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &liar{listener: listener, real: fmt.Sprint("127.0.0.1:", postgres.Port), database: database}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go l.speak(conn)
		}
	}()
	t.Cleanup(func() { _ = listener.Close() })
	return l
}

func (l *liar) port() int { return l.listener.Addr().(*net.TCPAddr).Port }

func (l *liar) speak(client net.Conn) {
	defer client.Close()
	startup, err := readPacket(client, 0)
	if err != nil {
		return
	}
	server, err := net.Dial("tcp", l.real)
	if err != nil {
		return
	}
	defer server.Close()
	parts := strings.Split(string(startup[8:]), "\x00")
	lie, at := "", -1
	for i := 0; i+1 < len(parts); i += 2 {
		if parts[i] == "database" {
			name, number, _ := strings.Cut(parts[i+1], ".")
			lie, parts[i+1] = name, l.database
			at, _ = strconv.Atoi(number)
		}
	}
	packet := append(startup[:8:8], strings.Join(parts, "\x00")...)
	binary.BigEndian.PutUint32(packet, uint32(len(packet)))
	if _, err := server.Write(packet); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	for exchange := 0; ; {
		m, err := readPacket(server, 1)
		if err != nil {
			return
		}
		answer := m
		if exchange == at {
			answer = lies[lie](m)
		}
		if m[0] == 'Z' {
			exchange++ // the first is the login
		}
		if answer == nil {
			continue
		}
		if _, err := client.Write(answer); err != nil || exchange == at && lie == "a message of 1 GB" {
			return // silence would last as long as a COMMIT may
		}
	}
}

// readPacket reads a message with this many bytes before its length.
func readPacket(from io.Reader, before int) ([]byte, error) {
	head := make([]byte, before+4)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	body := make([]byte, max(0, int(binary.BigEndian.Uint32(head[before:]))-4))
	_, err := io.ReadFull(from, body)
	return append(head, body...), err
}

// message is a message with a type and a body.
func message(kind byte, body ...byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

// instead replaces each message of one kind.
func instead(kind byte, answers ...[]byte) func([]byte) []byte {
	return func(m []byte) []byte {
		if m[0] != kind {
			return m
		}
		var all []byte
		for _, answer := range answers {
			all = append(all, answer...)
		}
		return all
	}
}

// ready replaces the end of an answer.
func ready(answers ...[]byte) func([]byte) []byte { return instead('Z', answers...) }

// row is a row with this many columns of that length. A negative length is NULL, or invalid.
func row(columns, length int) []byte {
	body := binary.BigEndian.AppendUint16(nil, uint16(columns))
	for range columns {
		body = binary.BigEndian.AppendUint32(body, uint32(length))
		body = append(body, make([]byte, max(0, length))...)
	}
	return message('D', body...)
}

var idle = message('Z', 'I')

// lies are the ways to falsify the messages of an answer. nil: send nothing.
var lies = map[string]func(m []byte) []byte{
	"":                       func(m []byte) []byte { return m },
	"no rows":                instead('D'),
	"rows of no column":      instead('D', row(0, 0)),
	"rows of one column":     instead('D', row(1, 1)),
	"rows of NULL":           instead('D', row(6, -1)),
	"rows of empty values":   instead('D', row(6, 0)),
	"rows of zeros":          instead('D', row(6, 8)),
	"rows of many columns":   instead('D', row(1600, 4)),
	"rows twice":             func(m []byte) []byte { return append(m, m...) },
	"rows too long":          instead('D', message('D', 0, 1, 0, 0, 1, 0, 'x')),
	"rows of negative size":  instead('D', message('D', 0, 1, 0xff, 0xff, 0xff, 0xf0)),
	"rows without end":       instead('D', message('D', 0xff, 0xff)),
	"half a count":           instead('D', message('D', 0)),
	"no description":         instead('T'),
	"an empty description":   instead('T', message('T', 0, 0)),
	"a bad description":      instead('T', message('T', 0, 9, 'x', 0)),
	"no end":                 instead('C'),
	"an empty end":           instead('C', message('C', 0)),
	"an end without zero":    instead('C', message('C', 'S')),
	"an odd end":             instead('C', append(message('C'), []byte("INSERT x y\x00")...)),
	"an error of nothing":    instead('C', message('E', 0)),
	"an error cut off":       instead('C', message('E', 'S', 'E', 'R')),
	"a bare error":           instead('C', message('E', 'C', '0', 0, 0)),
	"a fatal error":          instead('C', message('E', []byte("SFATAL\x00VFATAL\x00C57P01\x00Mgone\x00\x00")...)),
	"a notice of nothing":    instead('C', message('N', 0), message('N'), message('C', 0)),
	"a notification":         instead('C', message('A', 0, 0, 0, 1), message('C', 0)),
	"a setting cut off":      instead('C', message('S', 'x'), message('C', 0)),
	"an odd encoding":        instead('C', message('S', []byte("client_encoding\x00SQL_ASCII\x00")...), message('C', 0)),
	"another login":          instead('C', message('R', 0, 0, 0, 3)),
	"a login of nothing":     instead('R', message('R')),
	"an unknown login":       instead('R', message('R', 0, 0, 0, 99)),
	"SASL of nothing":        instead('R', message('R', 0, 0, 0, 10, 0)),
	"SASL too early":         instead('R', message('R', 0, 0, 0, 12, 'v', '=')),
	"an MD5 login cut off":   instead('R', message('R', 0, 0, 0, 5, 1)),
	"a short key":            instead('K', message('K', 0, 0)),
	"no key":                 instead('K'),
	"copy in":                instead('C', message('G', 0, 0, 0)),
	"copy out":               instead('C', message('H', 0, 0, 1), message('d', 'x')),
	"copy both":              instead('C', message('W', 0, 0, 0)),
	"copy cut off":           instead('C', message('G')),
	"a portal suspended":     instead('C', message('s')),
	"parameters":             instead('C', message('t', 0xff, 0xff), message('n'), message('C', 0)),
	"an unknown message":     ready(message('!', 'x'), idle),
	"a message of no length": ready([]byte{'C', 0, 0, 0, 0}, idle),
	"a message of 1 GB":      ready([]byte{'D', 0x3f, 0xff, 0xff, 0xff, 0, 1}),
	"a message of 4 GB":      ready([]byte{'D', 0xff, 0xff, 0xff, 0xff, 0, 1}),
	"ready twice":            ready(idle, idle),
	"ready for nothing":      ready(message('Z')),
	"ready for x":            ready(message('Z', 'x')),
	"ready after failure":    ready(message('Z', 'E')),
	"ready in between":       instead('C', idle, message('C', 0)),
	"a transaction":          ready(message('Z', 'T')),
	"rows after the end":     ready(row(1, 1), idle),
	"an end after the end":   ready(message('C', []byte("SELECT 1\x00")...), idle),
	"a protocol of its own":  ready(message('v', 0, 0, 0, 1), idle),
	"bytes":                  func([]byte) []byte { return []byte("HTTP/1.1 400 Bad Request\r\n\r\n") },
}

// TestRemoteThatLies: a remote that answers wrongly in any way fails its own tasks, and nothing
// else.
func TestRemoteThatLies(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.choose(attack{tables: "public.task own.task"})
	s.targets[1].keys = object{"run": 60}
	s.exec(s.safe, "ALTER ROLE $o PASSWORD 'secret'")
	s.configure(nil)
	p := run(t, "--config", s.config)
	s.serve(attack{}, p, "at first")
	l := newLiar(t, s.database)
	const exchanges = 5
	remote := fmt.Sprintf("host=127.0.0.1 port=%d user=%s password=secret sslmode=disable dbname=", l.port(), s.roles["$o"])
	var values []string
	for lie := range lies {
		for at := range exchanges {
			values = append(values, fmt.Sprintf(`('%s.%[2]d', '%[3]s''%[1]s.%[2]d''', 'SELECT %[2]d, ''x''', '5 s')`, lie, at, remote))
		}
	}
	s.exec(s.as("$o"), `INSERT INTO own.task ("group", remote, input, timeout) VALUES `+strings.Join(values, ", "))
	left := "SELECT count(*) FROM own.task WHERE remote IS NOT NULL AND state = 'PLAN' AND error IS NULL OR state IN ('TAKE', 'WORK')"
	ended := servertest.Comes(6*patience, func() bool {
		select {
		case <-p.Done:
			return true
		default:
			return s.get(s.safe, left) == "0"
		}
	})
	said := p.Log.String()
	if i := strings.Index(said, "panic"); i >= 0 {
		t.Errorf("a wrong answer makes it panic: %.1500s", said[i:])
	}
	select {
	case <-p.Done:
		t.Fatal("pgtaskd has died of it")
	default:
	}
	if !ended {
		t.Errorf("tasks hang: %s", s.get(s.safe, strings.Replace(left, "count(*)", `string_agg(concat_ws(' ', "group", state, attempt, interrupted, plan, start, pid, runs), E'\n')`, 1)))
	}
	if output := s.get(s.safe, `SELECT count(*) FROM own.task WHERE "group" LIKE '.%' AND state = 'DONE'`); output != fmt.Sprint(exchanges) {
		t.Errorf("of the honest answers %s are DONE", output)
	}
	s.use(attack{}, p, "in the end", 0)
	p.stop(t)
}
