TRUNCATE task, effect, peer;
