//go:build slow

package work

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// TestPartOfAServedTableIsRefused: two leaders would count the same lanes separately.
func TestPartOfAServedTableIsRefused(t *testing.T) {
	t.Parallel()
	for name, tables := range map[string]string{
		"partition": `CREATE TABLE p (id bigserial, plan timestamptz NOT NULL DEFAULT now(), input text NOT NULL) PARTITION BY RANGE (plan);
			CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (MINVALUE) TO (MAXVALUE)`,
		"child": "CREATE TABLE p (id bigserial PRIMARY KEY, input text NOT NULL); CREATE TABLE between (PRIMARY KEY (id)) INHERITS (p); CREATE TABLE p1 (PRIMARY KEY (id)) INHERITS (between)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refusesAPart(t, tables)
		})
	}
}

func refusesAPart(t *testing.T, tables string) {
	s := play(t)
	for sql := range strings.SplitSeq(tables, ";") {
		s.exec(sql)
	}
	whole, part := s.target, s.target
	whole.Table, part.Table = "p", "p1"
	stop, ended := make(chan struct{}), make(chan error)
	go func() { ended <- Serve(t.Context(), stop, whole, zerologNone) }()
	s.exec("INSERT INTO p (input) VALUES ('SELECT 1')")
	s.until("served", func() bool {
		return s.get("SELECT count(*) FROM information_schema.columns WHERE table_name = 'p' AND column_name = 'state'") == "1" &&
			s.get("SELECT count(*) FROM p WHERE state = 'DONE'") == "1"
	})
	refused := make(chan error)
	go func() { refused <- Serve(t.Context(), stop, part, zerolog.New(s)) }()
	s.until("refused", func() bool { return strings.Contains(s.logged(), `\"p1\" is a partition or child of \"public\".\"p\"`) })
	close(stop)
	if err := <-refused; err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// foreignParts make a table, add a part that is on another server, and take that part away.
var foreignParts = map[string]struct{ make, part, away string }{
	"partition": {
		"CREATE TABLE task (id bigserial, plan timestamptz NOT NULL DEFAULT now(), input text NOT NULL) PARTITION BY RANGE (plan); CREATE TABLE here PARTITION OF task DEFAULT",
		"CREATE FOREIGN TABLE far PARTITION OF task FOR VALUES FROM ('2200-01-01') TO ('2300-01-01') SERVER far",
		"ALTER TABLE task DETACH PARTITION far",
	},
	"child of a child": {
		"CREATE TABLE task (id bigserial PRIMARY KEY, input text NOT NULL); CREATE TABLE between () INHERITS (task)",
		"CREATE FOREIGN TABLE far () INHERITS (between) SERVER far",
		"ALTER FOREIGN TABLE far NO INHERIT between",
	},
}

const (
	farServer  = "CREATE FOREIGN DATA WRAPPER far; CREATE SERVER far FOREIGN DATA WRAPPER far"
	farRefused = "foreign table public.far is a partition or child of the table"
)

// TestAForeignPartIsRefused: and named. We do not see changes there, and rows of the other server's
// owner would run.
func TestAForeignPartIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range foreignParts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			must(t, s.conn, farServer+"; "+c.make+"; "+c.part)
			if faults := strings.Join(Check(t.Context(), s.target).Faults, "\n"); !strings.HasPrefix(faults, farRefused) {
				t.Errorf("check complains %q", faults)
			}
			s.serve()
			s.says(farRefused)
			if s.leads() > 0 || s.get("SELECT count(*) FROM pg_attribute WHERE attrelid = 'task'::regclass AND attname = 'state'") != "0" {
				t.Error("it is served")
			}
			s.exec(c.away)
			s.settled()
			s.becomes(s.add("input", "SELECT 1"), "DONE")
		})
	}
}

// TestAForeignPartThatComesLaterIsNoticed: the table is not served until the part is gone.
func TestAForeignPartThatComesLaterIsNoticed(t *testing.T) {
	t.Parallel()
	for name, c := range foreignParts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t)
			must(t, s.conn, farServer+"; "+c.make)
			s.serve()
			s.settled()
			s.becomes(s.add("input", "SELECT 1"), "DONE")
			s.exec(c.part)
			s.says(farRefused)
			s.exec(c.away)
			s.becomes(s.add("input", "SELECT 1"), "DONE")
		})
	}
}
