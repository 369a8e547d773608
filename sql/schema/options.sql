-- A queue's rows are updated three times and then lie still: half a page free keeps the first
-- updates HOT, and vacuum comes after a fixed number of dead rows rather than a share of all that
-- was ever done.

ALTER TABLE :table SET (fillfactor = 50);
ALTER TABLE :table SET (autovacuum_vacuum_threshold = 1000);
ALTER TABLE :table SET (autovacuum_vacuum_scale_factor = 0.01);
ALTER TABLE :table SET (autovacuum_vacuum_cost_delay = 0);
ALTER TABLE :table SET (autovacuum_analyze_threshold = 1000);
ALTER TABLE :table SET (autovacuum_analyze_scale_factor = 0.05);
