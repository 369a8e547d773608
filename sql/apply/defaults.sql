-- The defaults of columns as text, evaluated in this session: they may read its settings.
SELECT ARRAY[:defaults]::text[]
