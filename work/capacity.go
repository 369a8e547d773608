package work

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// ownConnections are those that a target has besides its sessions.
const ownConnections = 2

// capacity is what a target's server has for its connections, and what the target may ask for.
type capacity struct {
	server                       string // by what tells it from others
	role, database               string
	ofServer, ofRole, ofDatabase int // most connections; below 0: any
	wanted                       int
}

// measure looks how much room there is.
func (r *Report) measure(ctx context.Context, conn *pgx.Conn, t Target) {
	found := capacity{role: t.Connect["user"], database: t.Connect["dbname"], wanted: t.Run + ownConnections}
	err := conn.QueryRow(ctx, sql.Description{}.Queries(table(t)).Text("capacity")).
		Scan(&found.server, &found.ofServer, &found.ofRole, &found.ofDatabase)
	if err != nil {
		r.fault("%s", err)
		return
	}
	r.capacity = &found
}

// Warning is what does not keep targets from being served, but will be met when they have much to
// do.
type Warning struct {
	Targets []int // places in the list of reports
	Text    string
}

// Crowded compares the room of servers, roles and databases with what all targets together may ask
// for.
func Crowded(reports []Report) []Warning {
	type limit struct{ what, server, name string }
	var order []limit
	most, wanted, targets := map[limit]int{}, map[limit]int{}, map[limit][]int{}
	for i, r := range reports {
		if r.capacity == nil {
			continue
		}
		for _, l := range []struct {
			limit
			most int
		}{
			{limit{"max_connections of the server, less those reserved for others, leaves", r.capacity.server, ""}, r.capacity.ofServer},
			{limit{"CONNECTION LIMIT of role " + quoted(r.capacity.role) + " is", r.capacity.server, r.capacity.role}, r.capacity.ofRole},
			{limit{"CONNECTION LIMIT of database " + quoted(r.capacity.database) + " is", r.capacity.server, r.capacity.database}, r.capacity.ofDatabase},
		} {
			if l.most < 0 {
				continue
			}
			if before, known := most[l.limit]; !known || l.most < before {
				most[l.limit] = l.most
			}
			if wanted[l.limit] == 0 {
				order = append(order, l.limit)
			}
			wanted[l.limit] += r.capacity.wanted
			targets[l.limit] = append(targets[l.limit], i)
		}
	}
	var warnings []Warning
	for _, l := range order {
		if wanted[l] > most[l] {
			text := fmt.Sprintf("run + %d for each target makes up to %d connections, and %s %d: lower run, or raise the limit", ownConnections, wanted[l], l.what, most[l])
			warnings = append(warnings, Warning{slices.Clone(targets[l]), text})
		}
	}
	return warnings
}
