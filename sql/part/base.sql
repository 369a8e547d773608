-- When the task t should run by its series. Anybody may have written base, so it is bounded: then
-- adding an interval stays within the range of a timestamp.
greatest('2000-01-01 00:00:00+00 BC'::timestamptz, least(coalesce(t.base, t.plan), '10000-01-01 00:00:00+00'::timestamptz))
