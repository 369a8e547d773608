INSERT INTO :table (input, plan) VALUES ('SELECT 1', now() + interval '1 day');
