-- A task's row is updated three times and then no more. With half a page free the first updates
-- stay HOT. Vacuum comes after about a fixed number of dead rows, not after a share of all rows
-- that ever were.

ALTER TABLE :table SET (fillfactor = 50);
ALTER TABLE :table SET (autovacuum_vacuum_threshold = 1000);
ALTER TABLE :table SET (autovacuum_vacuum_scale_factor = 0.01);
ALTER TABLE :table SET (autovacuum_vacuum_cost_delay = 0);
ALTER TABLE :table SET (autovacuum_analyze_threshold = 1000);
ALTER TABLE :table SET (autovacuum_analyze_scale_factor = 0.05);
