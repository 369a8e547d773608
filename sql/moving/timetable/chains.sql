-- The chains, with their tasks in order, and the tasks' parameters. Some columns came with later
-- versions.
SELECT
    c.chain_id,
    c.chain_name,
    coalesce(c.run_at::text, ''),
    coalesce(c.live, false),
    coalesce(c.max_instances, 0),
    coalesce(c.timeout, 0),
    coalesce(c.self_destruct, false),
    coalesce(c.exclusive_execution, false),
    coalesce(c.client_name, ''),
    coalesce(to_jsonb(c) ->> 'on_error', ''),
    coalesce(to_jsonb(c) ->> 'run_at_time_zone', ''),
    coalesce((
        SELECT jsonb_agg(jsonb_build_object(
            'id', t.task_id,
            'name', coalesce(to_jsonb(t) ->> 'task_name', ''),
            'kind', t.kind,
            'command', t.command,
            'runAs', coalesce(t.run_as, ''),
            'connection', coalesce(t.database_connection, ''),
            'ignoreError', t.ignore_error,
            'autonomous', t.autonomous,
            'timeout', coalesce(t.timeout, 0),
            'parameters', coalesce((
                SELECT jsonb_agg(p.value ORDER BY p.order_id)
                FROM timetable.parameter AS p
                WHERE p.task_id = t.task_id
                    AND p.value IS NOT NULL
            ), '[]')
        ) ORDER BY t.task_order, t.task_id)
        FROM timetable.task AS t
        WHERE t.chain_id = c.chain_id
            AND coalesce((to_jsonb(t) ->> 'live')::bool, true)
    ), '[]')
FROM timetable.chain AS c
ORDER BY c.chain_id
