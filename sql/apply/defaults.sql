-- The defaults of columns as texts: what they are in this session, whose settings they may look at.
SELECT ARRAY[:defaults]::text[]
