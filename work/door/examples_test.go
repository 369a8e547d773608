package door

// example is an arrangement of roles and rights, with the findings of the door.
type example struct {
	name      string
	setup     string
	table     string // "": task
	path      string // "": "$user", work
	trust     []string
	inserter  bool
	superuser bool
	want      []string
}

const (
	mFunction = "CREATE FUNCTION other.f(text) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT true'; ALTER FUNCTION other.f(text) OWNER TO m; "
	mTrigger  = "CREATE FUNCTION other.t() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; ALTER FUNCTION other.t() OWNER TO m; "

	ownsF = "refuse m owns function other.f(pg_catalog.text)"
	ownsT = "refuse m owns function other.t()"
)

var examples = []example{
	{name: "nobody but the serving role"},
	{name: "no table yet", table: "absent"},

	// Rights that let others' code run.
	{name: "TRIGGER", setup: "GRANT TRIGGER ON work.task TO m", want: []string{"refuse m has TRIGGER on table work.task"}},
	{name: "REFERENCES", setup: "GRANT REFERENCES ON work.task TO m", want: []string{"refuse m has REFERENCES on table work.task"}},
	{name: "REFERENCES of one column", setup: "GRANT REFERENCES (id) ON work.task TO m", want: []string{"refuse m has REFERENCES on table work.task"}},
	{name: "TRIGGER of everybody", setup: "GRANT TRIGGER ON work.task TO PUBLIC", want: []string{"refuse PUBLIC has TRIGGER on table work.task"}},
	{name: "both", setup: "GRANT TRIGGER, REFERENCES ON work.task TO m", want: []string{"refuse m has REFERENCES, TRIGGER on table work.task"}},
	{
		name: "TRIGGER on a parent", setup: "CREATE TABLE other.p (); ALTER TABLE other.p OWNER TO svc; ALTER TABLE work.task INHERIT other.p; GRANT TRIGGER ON other.p TO m",
		want: []string{"refuse m has TRIGGER on table other.p"},
	},
	{
		name: "TRIGGER on a child", setup: "CREATE TABLE other.c () INHERITS (work.task); ALTER TABLE other.c OWNER TO svc; GRANT TRIGGER ON other.c TO m",
		want: []string{"refuse m has TRIGGER on table other.c"},
	},
	{name: "TRIGGER beside", setup: "GRANT TRIGGER ON work.task_leader TO m", want: []string{"refuse m has TRIGGER on table work.task_leader"}},
	{
		name: "TRIGGER on what refers to the table", setup: "CREATE TABLE other.r (id int8 REFERENCES work.task ON DELETE CASCADE); ALTER TABLE other.r OWNER TO svc; GRANT TRIGGER ON other.r TO m",
		want: []string{"refuse m has TRIGGER on table other.r"},
	},
	{name: "what the application needs", setup: "GRANT INSERT (data), UPDATE (state), SELECT, DELETE, TRUNCATE ON work.task TO app"},

	// Rights to change our rows.
	{
		name: "writes a parent", setup: "CREATE TABLE other.p (); ALTER TABLE other.p OWNER TO svc; ALTER TABLE work.task INHERIT other.p; GRANT TRUNCATE, SELECT ON other.p TO m",
		want: []string{"refuse m has TRUNCATE on table other.p"},
	},
	{name: "writes the register", setup: "GRANT INSERT ON :register TO m", want: []string{"refuse m has INSERT on table :register"}},
	{name: "writes the acts of the page", setup: "GRANT UPDATE ON work.task_act TO m", want: []string{"refuse m has UPDATE on table work.task_act"}},
	{name: "owns the acts of the page", setup: "ALTER TABLE work.task_act OWNER TO m", want: []string{"refuse m owns table work.task_act"}},
	{name: "sets the sequence", setup: "GRANT UPDATE, USAGE ON SEQUENCE work.task_id_seq TO m", want: []string{"warn m has UPDATE on sequence work.task_id_seq"}},

	// Objects that belong to somebody else.
	{name: "the table", setup: "ALTER TABLE work.task OWNER TO m", want: []string{"refuse m owns table work.task"}},
	{name: "a trigger's function", setup: mTrigger + "CREATE TRIGGER x BEFORE INSERT ON work.task FOR EACH ROW EXECUTE FUNCTION other.t()", want: []string{ownsT}},
	{name: "a function in a default", setup: mFunction + "ALTER TABLE work.task ADD x bool DEFAULT other.f('')", want: []string{ownsF}},
	{name: "a function in a CHECK", setup: mFunction + "ALTER TABLE work.task ADD CHECK (other.f(data))", want: []string{ownsF}},
	{name: "a function in an index", setup: mFunction + "CREATE INDEX ON work.task (other.f(data))", want: []string{ownsF}},
	{name: "a function in a policy", setup: mFunction + "CREATE POLICY x ON work.task USING (other.f(data))", want: []string{ownsF}},
	{name: "a function in a rule", setup: mFunction + "CREATE RULE x AS ON DELETE TO work.task WHERE other.f(OLD.data) DO NOTHING", want: []string{ownsF}},
	{
		name: "a rule's relation", setup: "CREATE TABLE other.r (id int8); ALTER TABLE other.r OWNER TO m; CREATE RULE x AS ON DELETE TO work.task DO ALSO INSERT INTO other.r VALUES (OLD.id)",
		want: []string{"refuse m owns table other.r"},
	},
	{name: "a type", setup: "CREATE TYPE other.e AS ENUM (); ALTER TABLE work.task ADD x other.e; ALTER TYPE other.e OWNER TO m", want: []string{"refuse m owns type other.e"}},
	{name: "an array's type", setup: "CREATE TYPE other.e AS ENUM (); ALTER TABLE work.task ADD x other.e[]; ALTER TYPE other.e OWNER TO m", want: []string{"refuse m owns type other.e"}},
	{name: "a domain", setup: "CREATE DOMAIN other.d AS text; ALTER TABLE work.task ADD x other.d; ALTER DOMAIN other.d OWNER TO m", want: []string{"refuse m owns type other.d"}},
	{name: "the function in a domain's CHECK", setup: mFunction + "CREATE DOMAIN other.d AS text CHECK (other.f(VALUE)); ALTER TABLE work.task ADD x other.d", want: []string{ownsF}},
	{
		name: "a part of a composite type", setup: "CREATE TYPE other.e AS ENUM (); CREATE TYPE other.c AS (x other.e); ALTER TABLE work.task ADD x other.c; ALTER TYPE other.e OWNER TO m",
		want: []string{"refuse m owns type other.e"},
	},
	{name: "an operator's function", setup: mFunction + "CREATE OPERATOR other.!! (RIGHTARG = text, FUNCTION = other.f); CREATE INDEX ON work.task ((OPERATOR(other.!!) data))", want: []string{ownsF}},
	{
		name: "an operator", setup: mFunction + "ALTER FUNCTION other.f OWNER TO svc; CREATE OPERATOR other.!! (RIGHTARG = text, FUNCTION = other.f); CREATE INDEX ON work.task ((OPERATOR(other.!!) data)); ALTER OPERATOR other.!! (NONE, text) OWNER TO m",
		want: []string{"warn m owns operator other.!!(NONE,pg_catalog.text)"},
	},
	{
		name: "a cast's function", setup: "CREATE TYPE other.c AS (x int4); ALTER TABLE work.task ADD x other.c; CREATE FUNCTION other.f(other.c) RETURNS int4 LANGUAGE sql AS 'SELECT 1'; " +
			"CREATE CAST (other.c AS int4) WITH FUNCTION other.f(other.c) AS IMPLICIT; ALTER FUNCTION other.f(other.c) OWNER TO m",
		want: []string{"refuse m owns function other.f(other.c)"},
	},
	{
		name: "the function of an operator class", setup: "CREATE FUNCTION other.c(text, text) RETURNS int4 IMMUTABLE LANGUAGE sql AS 'SELECT 1'; " +
			"CREATE OPERATOR CLASS other.o FOR TYPE text USING btree AS OPERATOR 1 <, FUNCTION 1 other.c(text, text); CREATE INDEX ON work.task (data other.o); ALTER FUNCTION other.c OWNER TO m",
		want: []string{"refuse m owns function other.c(pg_catalog.text,pg_catalog.text)"},
	},
	{name: "extended statistics", setup: "CREATE STATISTICS other.s ON id, state FROM work.task; ALTER STATISTICS other.s OWNER TO m", want: []string{"refuse m owns statistics object other.s"}},
	{
		name: "an event trigger's function", setup: "CREATE FUNCTION other.e() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'; CREATE EVENT TRIGGER x ON ddl_command_end EXECUTE FUNCTION other.e(); ALTER FUNCTION other.e() OWNER TO m",
		want: []string{"refuse m owns function other.e()"},
	},
	{name: "an event trigger that is off", setup: "CREATE FUNCTION other.e() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'; CREATE EVENT TRIGGER x ON ddl_command_end EXECUTE FUNCTION other.e(); ALTER EVENT TRIGGER x DISABLE; ALTER FUNCTION other.e() OWNER TO m"},
	{
		name: "the server of a foreign child", setup: "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE other.c () INHERITS (work.task) SERVER s; ALTER FOREIGN TABLE other.c OWNER TO svc; GRANT USAGE ON FOREIGN DATA WRAPPER w TO m; ALTER SERVER s OWNER TO m",
		want: []string{"refuse m owns server s"},
	},
	{name: "a child", setup: "CREATE TABLE other.c () INHERITS (work.task); ALTER TABLE other.c OWNER TO m", want: []string{"refuse m owns table other.c"}},
	{name: "a parent", setup: "CREATE TABLE other.p (); ALTER TABLE work.task INHERIT other.p; ALTER TABLE other.p OWNER TO m", want: []string{"refuse m owns table other.p"}},
	{name: "a foreign key's target", setup: "CREATE TABLE other.k (id int4 PRIMARY KEY); ALTER TABLE other.k OWNER TO m; ALTER TABLE work.task ADD x int4 REFERENCES other.k", want: []string{"refuse m owns table other.k"}},
	{
		name: "a function in the predicate of an index of a foreign key's target", setup: mFunction + "CREATE TABLE other.k (id int4 PRIMARY KEY); ALTER TABLE other.k OWNER TO svc; ALTER TABLE work.task ADD x int4 REFERENCES other.k; CREATE INDEX ON other.k (id) WHERE other.f('')",
		want: []string{ownsF},
	},
	{
		name: "the trigger of a table that refers with CASCADE", setup: mTrigger + "CREATE TABLE other.r (id int8 REFERENCES work.task ON DELETE CASCADE); ALTER TABLE other.r OWNER TO svc; CREATE TRIGGER x BEFORE DELETE ON other.r FOR EACH ROW EXECUTE FUNCTION other.t()",
		want: []string{ownsT},
	},
	{name: "a view with a name of ours", table: "job", setup: "CREATE VIEW work.job_group AS SELECT 1; ALTER VIEW work.job_group OWNER TO m", want: []string{"refuse m owns view work.job_group"}},
	{name: "a function with a name of ours", setup: "ALTER FUNCTION work.task_why(int8) OWNER TO m", want: []string{"refuse m owns function work.task_why(bigint)"}},
	{
		name: "an overload of a function of ours", setup: "CREATE FUNCTION work.task_why(int4) RETURNS text LANGUAGE sql AS 'SELECT null::text'; ALTER FUNCTION work.task_why(int4) OWNER TO m",
		want: []string{"refuse m owns function work.task_why(integer)"},
	},
	{name: "a view as the table", table: "look", setup: "CREATE VIEW work.look AS SELECT 1; ALTER VIEW work.look OWNER TO m", want: []string{`refuse m owns, where the table should be, view "work"."look"`}},
	{name: "a view of the serving role's as the table", table: "look", setup: "CREATE VIEW work.look AS SELECT 1; ALTER VIEW work.look OWNER TO svc", want: []string{`refuse svc owns, where the table should be, view "work"."look"`}},

	// Rights that only break the table.
	{
		name: "the schema of a function", setup: mTrigger + "ALTER FUNCTION other.t() OWNER TO svc; CREATE TRIGGER x BEFORE INSERT ON work.task FOR EACH ROW EXECUTE FUNCTION other.t(); ALTER SCHEMA other OWNER TO m",
		want: []string{"warn m owns schema other"},
	},
	{name: "a collation", setup: "CREATE COLLATION other.c (LOCALE = 'C'); ALTER TABLE work.task ADD x text COLLATE other.c; ALTER COLLATION other.c OWNER TO m", want: []string{"warn m owns collation other.c"}},
	{name: "a publication", setup: "CREATE PUBLICATION p FOR TABLE work.task; GRANT CREATE ON DATABASE :db TO m; ALTER PUBLICATION p OWNER TO m", want: []string{"warn m owns publication p"}},
	{name: "default privileges", setup: "ALTER DEFAULT PRIVILEGES FOR ROLE svc IN SCHEMA work GRANT ALL ON TABLES TO m", want: []string{"warn m gets REFERENCES, TRIGGER on tables that role svc makes in schema work"}},
	{name: "default privileges everywhere", setup: "ALTER DEFAULT PRIVILEGES FOR ROLE svc GRANT TRIGGER ON TABLES TO m", want: []string{"warn m gets TRIGGER on tables that role svc makes"}},

	// Places where names are looked up.
	{name: "the schema", setup: "ALTER SCHEMA work OWNER TO m", want: []string{"refuse m owns schema work"}},
	{name: "CREATE on the schema", setup: "GRANT CREATE ON SCHEMA work TO m", want: []string{"refuse m may CREATE in schema work"}},
	{name: "CREATE of everybody", setup: "GRANT CREATE ON SCHEMA work TO PUBLIC", want: []string{"warn PUBLIC may CREATE in schema work"}},
	{name: "CREATE of everybody, for a superuser", superuser: true, trust: []string{"svc"}, setup: "GRANT CREATE ON SCHEMA work TO PUBLIC; ALTER SCHEMA svc RENAME TO postgres", want: []string{"refuse PUBLIC may CREATE in schema work"}},
	{name: "CREATE elsewhere on the path", path: `"$user", Other`, setup: "REVOKE ALL ON SCHEMA other FROM PUBLIC; GRANT CREATE ON SCHEMA other TO m", want: []string{"warn m may CREATE in schema other"}},
	{name: "CREATE elsewhere on a superuser's path", superuser: true, trust: []string{"svc"}, path: `other`, setup: "REVOKE ALL ON SCHEMA other FROM PUBLIC; GRANT CREATE ON SCHEMA other TO m", want: []string{"refuse m may CREATE in schema other"}},
	{name: "another's schema on the path", path: `other`, setup: "REVOKE ALL ON SCHEMA other FROM PUBLIC; ALTER SCHEMA other OWNER TO m", want: []string{"warn m owns schema other"}},
	{name: "a schema whose name needs quotes", path: `"a, ""b", work`, setup: `CREATE SCHEMA "a, ""b"; GRANT CREATE ON SCHEMA "a, ""b" TO m`, want: []string{`warn m may CREATE in schema "a, ""b"`}},
	{name: "CREATE on the database while the role's own schema is not there", setup: "DROP SCHEMA svc; GRANT CREATE ON DATABASE :db TO m", want: []string{"warn m may CREATE schema svc in database :db"}},
	{name: "CREATE on the database while it is there", setup: "GRANT CREATE ON DATABASE :db TO m"},
	{name: "the database's owner", setup: "ALTER DATABASE :db OWNER TO m; ALTER TABLE work.task OWNER TO m", want: []string{"note m owns the database"}},
	{name: "the database's owner, for a superuser", superuser: true, trust: []string{"svc"}, path: "work", setup: "ALTER DATABASE :db OWNER TO m; ALTER SCHEMA work OWNER TO postgres", want: []string{"refuse m owns database :db"}},

	// Trusted roles.
	{name: "named", trust: []string{"m"}, setup: "ALTER TABLE work.task OWNER TO m; GRANT CREATE ON SCHEMA work TO m"},
	{name: "everybody is named", trust: []string{"PUBLIC"}, setup: "ALTER TABLE work.task OWNER TO m; GRANT CREATE ON SCHEMA work TO PUBLIC"},
	{name: "a name that nobody has", trust: []string{"ghost"}, want: []string{"warn ghost is trusted and does not exist"}},
	{name: "the serving role is a member of it", setup: "GRANT m TO svc; ALTER TABLE work.task OWNER TO m", want: []string{"refuse m owns table work.task"}},
	{name: "both are members of a role", setup: "GRANT app TO svc, m; ALTER TABLE work.task OWNER TO app", want: []string{"refuse app owns table work.task"}},
	{name: "a member of the serving role", setup: "GRANT svc TO m; ALTER TABLE work.task OWNER TO m", want: []string{"note m can become role svc"}},
	{name: "a member of one who is named", trust: []string{"app"}, setup: "GRANT app TO m; ALTER TABLE work.task OWNER TO m", want: []string{"note m can become role app"}},

	// Roles that can run SQL as the serving role anyway.
	{
		name: "may insert input", setup: "GRANT ALL ON work.task, work.task_leader TO app; GRANT USAGE ON SCHEMA work TO app; GRANT CREATE ON SCHEMA work TO app",
		want: []string{"note app may write input, on_fail or settings of work.task"},
	},
	{name: "may insert on_fail alone", setup: "GRANT INSERT (on_fail) ON work.task TO app; GRANT USAGE, CREATE ON SCHEMA work TO app", want: []string{"note app may write input, on_fail or settings of work.task"}},
	{name: "has the right and cannot reach the table", setup: "GRANT INSERT, TRIGGER ON work.task TO app", want: []string{"refuse app has TRIGGER on table work.task"}},
	{name: "may insert input under as inserter", inserter: true, setup: "GRANT ALL ON work.task TO app; GRANT USAGE ON SCHEMA work TO app", want: []string{"refuse app has REFERENCES, TRIGGER on table work.task"}},
	{name: "may call async", setup: "GRANT EXECUTE ON FUNCTION work.task_async() TO app; GRANT USAGE, CREATE ON SCHEMA work TO app", want: []string{"note app may call work.task_async()"}},
	{name: "everybody may insert input", setup: "GRANT INSERT ON work.task TO PUBLIC; GRANT USAGE ON SCHEMA work TO PUBLIC; GRANT TRIGGER ON work.task TO m", want: []string{"note PUBLIC may write input, on_fail or settings of work.task"}},
	{
		name: "the owner gives everybody INSERT", setup: "ALTER TABLE work.task OWNER TO m; GRANT INSERT ON work.task TO PUBLIC; GRANT USAGE ON SCHEMA work TO PUBLIC",
		want: []string{"refuse m owns table work.task"},
	},
	{
		name: "everybody may call a function that is not ours", setup: "ALTER FUNCTION work.task_async() OWNER TO m; GRANT EXECUTE ON FUNCTION work.task_async() TO PUBLIC; GRANT USAGE ON SCHEMA work TO PUBLIC",
		want: []string{"refuse m owns function work.task_async()"},
	},
}
