package work

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// TestPartitionOfAServedTable: its lanes would be counted apart from those of the whole.
func TestPartitionOfAServedTable(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE p (id bigserial, plan timestamptz NOT NULL DEFAULT now(), input text NOT NULL) PARTITION BY RANGE (plan)")
	s.exec("CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (MINVALUE) TO (MAXVALUE)")
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
	s.until("refused", func() bool { return strings.Contains(s.logged(), `\"p1\" is a partition of \"public\".\"p\"`) })
	close(stop)
	if err := <-refused; err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
