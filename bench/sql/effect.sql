-- Each client has its own rows, and updates them in turn.
\set n :n + 1
\set id :n % :per_client * :clients + :client_id + 1
BEGIN;
INSERT INTO effect VALUES (1);
UPDATE peer SET state = 'DONE', start = transaction_timestamp(), stop = clock_timestamp(), pid = pg_backend_pid(), output = 'INSERT 0 1' WHERE id = :id;
COMMIT;
