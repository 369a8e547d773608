package main

import (
	"slices"

	"pgtaskd/bench/proc"
)

// rows are all rows of the table, in order.
func rows(e effort) []row {
	return slices.Concat(rates(), latencies(), sizes(e))
}

func rates() []row {
	reads := peer{script: "select.sql", clients: sessions}
	saving, remote := manyLanes, manyLanes
	saving.save, saving.lanes = true, sessions // each session finds the state of its lane
	remote.remote = true
	writes := backlog{input: "INSERT INTO effect VALUES (1)", output: "INSERT 0 1", lanes: 1, max: sessions - 1, run: sessions, effects: true}
	writesAway := writes
	writesAway.remote = true
	return []row{
		&rate{name: "SELECT 1, one lane, max 15", tasks: oneLane, peer: reads, bar: 0.22, aim: 0.4},
		&rate{name: "SELECT 1, 1000 lanes", tasks: manyLanes, peer: reads, bar: 0.22, aim: 0.4},
		&rate{name: "SELECT 1, 16 lanes, save", tasks: saving, peer: reads, bar: 0.30, aim: 0.5},
		&rate{
			name:  "INSERT of a row, one lane, max 15",
			tasks: writes,
			peer:  peer{script: "effect.sql", clients: sessions, writes: true},
			bar:   1.0,
			aim:   1.4,
		},
		&rate{
			name:  "SELECT 1, one lane, max 0",
			tasks: backlog{input: "SELECT 1", output: "1", lanes: 1},
			peer:  peer{script: "select.sql", clients: 1},
			bar:   0.25,
			aim:   0.6,
		},
		&rate{name: "SELECT 1, 1000 lanes, remote", tasks: remote, peer: reads, bar: 0.25, aim: 0.4},
		&rate{
			name:  "INSERT of a row, one lane, max 15, remote",
			tasks: writesAway,
			peer:  peer{script: "effect.sql", clients: sessions, writes: true},
			bar:   0.4,
			aim:   0.6,
		},
	}
}

func latencies() []row {
	return []row{
		latency{name: "insert to start, idle table", p50: figure{bar: 2, aim: 1}, p99: figure{bar: 10, aim: 5}},
		planned{name: "plan to start, idle table", bar: 5, aim: 2},
	}
}

// sizes are the rows about large numbers of rows, tasks or targets.
func sizes(e effort) []row {
	all := []row{
		inserts{name: "INSERT of tasks not yet due, 16 clients", clients: sessions, bar: 0.9, aim: 0.98},
		&deep{
			short: min(10_000, e.due), long: e.due, lanes: 10_000, wide: 100,
			rate:   figure{bar: 0.8, aim: 0.95},
			start:  figure{bar: 2, aim: 0.5},
			memory: figure{bar: 100, aim: 40},
		},
		&loaded{name: "SELECT 1, one lane, max 15", tasks: oneLane, load: e.load, bar: 0.8, aim: 0.95},
	}
	if proc.Shown() {
		all = append(all, &targets{
			count: e.targets, watched: e.watched,
			cpu:    figure{bar: 1},
			memory: figure{bar: 60, aim: 20},
			number: figure{bar: 2, aim: 1},
		}, &scraped{count: 3 * e.targets, watched: e.watched, bar: 1})
	}
	return all
}
