-- In another database or server, here under another role. courier is the name of a connection string that only pgtaskd knows.
INSERT INTO task ("group", remote, input)
VALUES ('remote', 'courier', $$SELECT current_user || ' from ' || host(inet_client_addr())$$)
RETURNING id
