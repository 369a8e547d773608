-- An act that goes on, unless another controller works on it now.
-- $1 id
SELECT a.by, a."do", a.filter, a.data, a.least, a.position, coalesce(a.missed, '{}'), a.done, a.failed, coalesce(a.error, ''), a.at
FROM :its_act AS a
WHERE a.id = $1::int8
    AND a.ended IS NULL
FOR UPDATE SKIP LOCKED
