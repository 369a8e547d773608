package read

import (
	"encoding/binary"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/lane"
)

// find takes note of the tasks that a scan has brought, and returns how many there were, and those
// that are not worth running any more. There may be a million: so it reads the server's bytes as
// they are.
func (s *Scan) find(p *place, rows pgx.Rows) (found int, expired []expiring, err error) {
	odd := len(s.Tasks)+s.Holds.Len() > 0 // of tasks that would not count
	var due []byte
	for rows.Next() {
		found++
		v := rows.RawValues()
		r := lane.Rank{ID: integer(v[0]), Max: int32(integer(v[3])), Priority: int32(integer(v[4]))}
		p.id = r.ID
		due = append(due[:0], v[5]...)
		over := v[6]
		underWay := over != nil && integer(over) < 0
		if odd && !underWay && s.Holds.IsStuck(r.ID) {
			s.Holds.Forget(r.ID) // it was left alone for good, but somebody has changed its state
		}
		switch {
		case underWay:
			s.Adopt(r.ID, lane.KeyOf(string(v[1]), string(v[2])))
		case odd && s.Holds.Waits(r.ID):
		case odd && s.Tasks[r.ID] != nil: // it is read already, or runs
		case over != nil && !s.Groups.outlives(string(v[1]), micros(integer(over))):
			expired = append(expired, expiring{r.ID, string(v[1]), micros(integer(over))})
		case s.Lanes.Limits.Holds(v[1]): // many may wait for the end of a pause: they are looked for when it has come
			p.held++
		default:
			s.Lanes.Add(v[1], v[2], r)
			p.taken++
		}
	}
	if err := rows.Err(); err != nil || found == 0 {
		return found, expired, err
	}
	return found, expired, s.Control.Conn().TypeMap().Scan(pgtype.TimestamptzOID, pgx.BinaryFormatCode, due, &p.plan)
}

// integer reads what the server has sent in binary form, of whatever size the user's column is;
// NULL is 0.
func integer(b []byte) int64 {
	switch len(b) {
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	}
	return 0
}
