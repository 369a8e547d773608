package rows

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// TestValuesInJSON: what JSON can hold stays what it is.
func TestValuesInJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind       uint32
		text, want string
	}{
		{pgtype.Int8OID, "9223372036854775807", "9223372036854775807"},
		{pgtype.NumericOID, "0.10", "0.10"},
		{pgtype.NumericOID, "NaN", `"NaN"`},
		{pgtype.Float8OID, "1e+300", "1e+300"},
		{pgtype.Float8OID, "-Infinity", `"-Infinity"`},
		{pgtype.BoolOID, "t", "true"},
		{pgtype.JSONBOID, `{"a": 1}`, `{"a":1}`},
		{pgtype.JSONBOID, `{"a": `, `"{\"a\": "`},
		{pgtype.Int8ArrayOID, "{1,NULL}", "[1,null]"},
		{pgtype.Int8ArrayOID, "{}", "[]"},
		{pgtype.Int8ArrayOID, "[0:1]={1,2}", `"[0:1]={1,2}"`},
		{pgtype.TimestamptzOID, "2026-11-25 14:25:41.5+00", `"2026-11-25T14:25:41.5+00:00"`},
		{pgtype.TimestamptzOID, "2026-11-25 14:25:41-03:30", `"2026-11-25T14:25:41-03:30"`},
		{pgtype.TimestamptzOID, "infinity", `"infinity"`},
		{pgtype.TimestamptzOID, "0044-03-15 12:00:00+00 BC", `"0044-03-15 12:00:00+00 BC"`},
		{pgtype.TextOID, "12", `"12"`},
	} {
		if got, err := json.Marshal(Value(c.kind, c.text)); string(got) != c.want || err != nil {
			t.Errorf("%s is %s, not %s (%v)", c.text, got, c.want, err)
		}
	}
}
