-- In another database or server, here as another role. Only pgtaskd knows the connection string
-- that is called courier.
INSERT INTO task ("group", remote, input)
VALUES ('remote', 'courier', $$SELECT current_user || ' from ' || host(inet_client_addr())$$)
RETURNING id
