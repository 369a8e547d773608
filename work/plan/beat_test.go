package plan

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// TestNext: the beat of a new task, and of a repetition, which may have missed some beats.
func TestNext(t *testing.T) {
	t.Parallel()
	at := func(text string) pgtype.Timestamptz {
		switch text {
		case "infinity":
			return pgtype.Timestamptz{Valid: true, InfinityModifier: pgtype.Infinity}
		case "":
			return pgtype.Timestamptz{}
		}
		when, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return pgtype.Timestamptz{Valid: true, Time: when}
	}
	for _, c := range []struct {
		cron, origin, plan, until string
		catchup                   int32
		follows                   bool
		want                      string
	}{
		{cron: "@daily", origin: "2026-03-01 10:00", plan: "2026-03-01 10:00", want: "2026-03-02 00:00"},
		{cron: "@daily", origin: "2026-03-01 10:00", plan: "2026-03-01 10:00", until: "2026-03-01 12:00", want: "the next run of cron is after until"},
		{cron: "@daily", origin: "2026-03-01 10:00", plan: "2026-03-01 10:00", until: "2026-03-01 12:00", follows: true, want: "none"},
		{cron: "@daily", origin: "2026-03-01 10:00", plan: "2026-03-01 10:00", until: "2026-03-02 00:00", want: "2026-03-02 00:00"},
		{cron: "@daily", origin: "infinity", plan: "2026-03-01 10:00", want: "2026-03-01 10:00"},
		{cron: "@daily", origin: "2026-03-01 00:00", plan: "2026-03-05 10:00", want: "2026-03-06 00:00 after 4"},
		{cron: "@daily", origin: "2026-03-01 00:00", plan: "2026-03-05 10:00", catchup: 1, want: "2026-03-05 00:00 after 3"},
		{cron: "@daily", origin: "2026-03-01 00:00", plan: "2026-03-01 10:00", until: "2026-03-01 12:00", follows: true, want: "none"},
		{cron: "@every 1000 years", origin: "9026-03-01 00:00", plan: "9026-03-01 10:00", want: "the next run of cron is out of the range of plan: from 2000 BC to the year 9999"},
		{cron: "CRON_TZ=Asia/Tokyo 0 0 * * *", origin: "2026-03-01 10:00", plan: "2026-03-01 10:00", want: "2026-03-01 15:00"},
	} {
		u := unplanned{cron: c.cron, origin: at(c.origin), plan: at(c.plan), until: at(c.until), catchup: c.catchup, follows: c.follows}
		b, got := u.next(time.UTC, "UTC"), "none"
		switch {
		case b.err != nil:
			got = b.err.Error()
		case b.plan != nil:
			got = b.plan.Time.UTC().Format("2006-01-02 15:04")
		}
		if b.skipped > 0 {
			got += fmt.Sprint(" after ", b.skipped)
		}
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
