-- Whether the time of a statement is over. It may look at no further row then.
-- $12 how long it may take
clock_timestamp() > (statement_timestamp() + $12::interval)
