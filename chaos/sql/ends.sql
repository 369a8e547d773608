SELECT format('%s tasks: %s; %s effects; %s tasks were cut off, one of them %s times; how %s ended is unknown; the chains have %s tasks',
        count(*),
        (SELECT string_agg(n || ' ' || state, ', ' ORDER BY n DESC) FROM (SELECT state, count(*) AS n FROM task GROUP BY state) AS s),
        (SELECT count(*) FROM effect),
        count(*) FILTER (WHERE interrupted > 0),
        max(interrupted),
        count(*) FILTER (WHERE sqlstate = 'TK003'),
        count(*) FILTER (WHERE chain))
FROM task
