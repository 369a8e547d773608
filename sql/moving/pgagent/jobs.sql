-- The jobs, with their steps in the order in which they run, and their schedules with the
-- exceptions to come. Times that JSON cannot hold become the nearest time that it can; an end after
-- the year 9999 is no end.
SELECT
    j.jobid,
    j.jobname,
    j.jobenabled,
    j.jobhostagent,
    coalesce((
        SELECT jsonb_agg(jsonb_build_object(
            'name', s.jstname,
            'kind', s.jstkind,
            'code', s.jstcode,
            'database', s.jstdbname,
            'connection', s.jstconnstr,
            'onError', s.jstonerror
        ) ORDER BY s.jstname, s.jstid)
        FROM pgagent.pga_jobstep AS s
        WHERE s.jstjobid = j.jobid
            AND s.jstenabled
    ), '[]'),
    coalesce((
        SELECT jsonb_agg(jsonb_build_object(
            'name', c.jscname,
            'start', to_char(timezone('UTC', greatest(least(c.jscstart, '9999-01-01 00:00:00+00'), '0001-01-01 00:00:00+00')), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
            'end', CASE WHEN c.jscend < '9999-01-01 00:00:00+00'
                THEN to_char(timezone('UTC', greatest(c.jscend, '0001-01-01 00:00:00+00')), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') END,
            'minutes', c.jscminutes,
            'hours', c.jschours,
            'weekdays', c.jscweekdays,
            'monthdays', c.jscmonthdays,
            'months', c.jscmonths,
            'exceptions', coalesce((
                SELECT jsonb_agg(concat_ws(' ', e.jexdate, e.jextime) ORDER BY e.jexdate, e.jextime)
                FROM pgagent.pga_exception AS e
                WHERE e.jexscid = c.jscid
                    AND (e.jexdate IS NULL OR e.jexdate >= current_date)
            ), '[]')
        ) ORDER BY c.jscid)
        FROM pgagent.pga_schedule AS c
        WHERE c.jscjobid = j.jobid
            AND c.jscenabled
    ), '[]')
FROM pgagent.pga_job AS j
ORDER BY j.jobid
