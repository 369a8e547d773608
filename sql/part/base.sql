-- When the task t is to run by its own series: anybody may have written base, so it is bounded, and no
-- interval leads out of the range of a timestamp.
greatest('2000-01-01 00:00:00+00 BC'::timestamptz, least(coalesce(t.base, t.plan), '10000-01-01 00:00:00+00'::timestamptz))
