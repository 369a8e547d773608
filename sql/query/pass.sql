-- Passes over ids that come next and that somebody has taken by hand: the first that is free is
-- drawn, and left. Where it comes to none it is an error, as a repetition would meet it.
SELECT d.id
FROM (SELECT 0::int8 AS id) AS f
LEFT JOIN LATERAL (
    :drawn
) AS d ON (:sequence) > 0
