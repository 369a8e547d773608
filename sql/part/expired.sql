-- For the due task t: -1 if it is under way; else its column active in microseconds, if that time
-- has passed.
CASE
        WHEN t.state <> 'PLAN' THEN -1
        WHEN t.attempt = 0
            AND t.active > '0'
            AND t.max >= 0
            AND t.catchup = 0
            AND greatest(:base, t.freed) + least(t.active, '10000 years') < statement_timestamp()
            THEN least(date_part('epoch', t.active) * 1000000, 9e18)::int8
    END
