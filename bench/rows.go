package main

import "context"

// row is a kind of work that is measured.
type row interface {
	title() string
	// measure takes one round of figures, the same ones in each round.
	measure(ctx context.Context, s *stand) ([]figure, error)
}

// sessions is how many tasks run at once where the rate of many is measured, and how many clients pgbench has then.
const sessions = 16

// rows are all there are, in the order of the table.
func rows() []row {
	reads := peer{script: "select.sql", clients: sessions}
	lane := backlog{input: "SELECT 1", output: "1", lanes: 1, max: sessions - 1, run: sessions}
	lanes := backlog{input: "SELECT 1", output: "1", lanes: 1000, run: sessions}
	saving, remote := lane, lanes
	saving.save = true
	remote.remote = true
	return []row{
		&rate{name: "SELECT 1, one lane, max 15", tasks: lane, peer: reads, bar: 0.22},
		&rate{name: "SELECT 1, 1000 lanes", tasks: lanes, peer: reads, bar: 0.22},
		&rate{name: "SELECT 1, one lane, max 15, save", tasks: saving, peer: reads, bar: 0.30},
		&rate{
			name:  "INSERT of a row, one lane, max 15",
			tasks: backlog{input: "INSERT INTO effect VALUES (1)", output: "INSERT 0 1", lanes: 1, max: sessions - 1, run: sessions, effects: true},
			peer:  peer{script: "insert.sql", clients: sessions, writes: true},
			bar:   1.0,
		},
		&rate{
			name:  "SELECT 1, one lane, max 0",
			tasks: backlog{input: "SELECT 1", output: "1", lanes: 1},
			peer:  peer{script: "select.sql", clients: 1},
			bar:   0.25,
		},
		&rate{name: "SELECT 1, 1000 lanes, remote", tasks: remote, peer: reads, bar: 0.25},
		latency{name: "insert to start, idle table", p50: 2, p99: 10},
	}
}
