SET LOCAL pgtaskd.name = :name;
SET LOCAL pgtaskd.kind = :kind;
SET LOCAL pgtaskd.made = :build;
SET LOCAL pgtaskd.task = :task;
SET LOCAL pgtaskd.calls = :calls;
SET LOCAL pgtaskd.call = :call_type;
SET LOCAL pgtaskd.statements = :statements;
DO $pgtaskd$ BEGIN EXECUTE pg_catalog.current_setting('pgtaskd.beside'); END $pgtaskd$;
