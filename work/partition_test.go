//go:build slow

package work

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// TestPartOfAServedTableIsRefused: its lanes would be counted apart from those of the whole.
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
