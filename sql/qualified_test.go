package sql

import (
	"embed"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestStatementsNameTheSchemaOfAllTheyUse: whatever search_path a session has, nothing that
// somebody else has made is meant.
func TestStatementsNameTheSchemaOfAllTheyUse(t *testing.T) {
	t.Parallel()
	for path, text := range embedded(t) {
		for _, found := range unqualified(text, 1) {
			t.Errorf("sql/%s:%s", path, found)
		}
	}
}

// TestNoOperationCastsToATypeOfTheTables: the name of such a type can come to be somebody else's.
func TestNoOperationCastsToATypeOfTheTables(t *testing.T) {
	t.Parallel()
	for path, text := range embedded(t) {
		if !strings.HasPrefix(path, "schema/") && strings.Contains(text, ":::") {
			t.Errorf("%s casts to a type whose name is not fixed", path)
		}
	}
}

// embedded are all our SQL files, by their paths, with what stands in some for its name.
func embedded(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, files := range []embed.FS{schemaFiles, queries, parts, askFiles} {
		err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := files.ReadFile(path)
			if path != "part/memberships.sql" && path != "part/prepared.sql" { // which have no sense by themselves
				texts[path] = whole(string(text))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, pattern := range []string{"../apply/sql/*.sql", "../moving/query/*.sql", "../moving/*/query/*.sql"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal("there is no SQL: ", pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(text)
		}
	}
	return texts
}

// goFolders hold the program, but for what is there for tests.
var goFolders = []string{".", "../exec", "../work", "../work/wake", "../remote", "../conf", "../apply", "../ask", "../moving", "../moving/pgcron", "../moving/pgagent", "../moving/timetable", ".."}

// TestGoNamesTheSchemaOfAllItUses, in the SQL that it has.
func TestGoNamesTheSchemaOfAllItUses(t *testing.T) {
	t.Parallel()
	for _, folder := range goFolders {
		texts := goTexts(t, folder)
		for _, text := range texts {
			for _, found := range unqualified(text.sql, 1) {
				t.Errorf("%s:%s", text.place, found)
			}
		}
		if folder == "../exec" && len(texts) < 20 {
			t.Errorf("found %d texts in exec", len(texts))
		}
	}
}

type goText struct{ place, sql string }

// goTexts are the strings of a folder's program that are SQL, with their constants in place and :go
// for all else that is added to them.
func goTexts(t *testing.T, folder string) []goText {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	paths = slices.DeleteFunc(paths, func(path string) bool {
		return strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "demo.go"
	})
	files := token.NewFileSet()
	g := &goStrings{constants: map[string]ast.Expr{}}
	var parsed []*ast.File
	for _, path := range paths {
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
		g.declared(file)
	}
	var texts []goText
	for _, file := range parsed {
		ast.Inspect(file, func(node ast.Node) bool {
			expr, ok := node.(ast.Expr)
			if !ok {
				return true
			}
			sql, ok := g.value(expr)
			if ok && isSQL(sql) {
				texts = append(texts, goText{files.Position(expr.Pos()).String(), sql})
			}
			return !ok
		})
	}
	return texts
}

// isSQL is true of statements, and of parts of one.
func isSQL(text string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return slices.Contains([]string{
		"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "SET", "ALTER", "CREATE", "DROP", "GRANT", "DO", "EXECUTE", "PREPARE", "DECLARE", "VALUES", "COMMENT",
	}, first) || strings.Contains(text, "OPERATOR(") || strings.Contains(text, "pg_catalog.")
}

type goStrings struct {
	constants map[string]ast.Expr
}

func (g *goStrings) declared(file *ast.File) {
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok || general.Tok != token.CONST {
			continue
		}
		for _, spec := range general.Specs {
			values := spec.(*ast.ValueSpec)
			for i, value := range values.Values {
				g.constants[values.Names[i].Name] = value
			}
		}
	}
}

// value is a string, or a sum that has one.
func (g *goStrings) value(expr ast.Expr) (string, bool) {
	switch e := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.ParenExpr:
		return g.value(e.X)
	case *ast.Ident:
		if constant, ok := g.constants[e.Name]; ok {
			return g.value(constant)
		}
	case *ast.BinaryExpr:
		left, isLeft := g.value(e.X)
		right, isRight := g.value(e.Y)
		if e.Op != token.ADD || !isLeft && !isRight {
			return "", false
		}
		if !isLeft {
			left = ":go"
		}
		if !isRight {
			right = ":go"
		}
		return left + right, true
	}
	return "", false
}

func TestUnqualifiedIsFound(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		"SELECT now()", "SELECT pg_catalog.now() + pg_catalog.now()", "SELECT evil.now()", "SELECT pg_catalog.obj_description(1)", `SELECT "left"('a', 1)`, "SELECT t.left('a', 1) FROM :table AS t",
		"SELECT 1 = 2", "SELECT a OPERATOR(public.=) b", "SELECT a <> ALL ($1)", "SELECT -x", "SELECT 1 - 1", "SELECT (1)-1", "SELECT a ~~ 'b'", "SELECT x ->> 'y'",
		"SELECT 2 * 2", "SELECT a.b * 2", "SELECT $1 || $2",
		"SELECT '1'::int8", "SELECT '{}'::text[]", `SELECT ''::"char"`, "SELECT interval '1 s'", "SELECT timestamp with time zone '2000-01-01'",
		"SELECT cast('1' AS pg_catalog.int4)", "SELECT 'pg_class'::pg_catalog.regclass", "SELECT 'now'::pg_catalog.regproc",
		"SELECT 1 WHERE a IN (1, 2)", "SELECT a NOT IN (SELECT 1)", "SELECT a BETWEEN 1 AND 2", "SELECT a LIKE 'b'", "SELECT a NOT ILIKE 'b'", "SELECT a SIMILAR TO 'b'",
		"SELECT nullif(a, b)", "SELECT a IS DISTINCT FROM b", "SELECT a IS NOT DISTINCT FROM b", "SELECT CASE a WHEN 1 THEN 2 END",
		"SELECT extract(epoch FROM a)", "SELECT substring(a FROM 1)", "SELECT position('a' IN b)", "SELECT a AT TIME ZONE 'UTC'", `SELECT a COLLATE "C"`,
		"SELECT 1 FROM :table AS a JOIN :table AS b USING (id)", "SELECT 1 FROM :table AS a NATURAL JOIN :table AS b", "SELECT (a, b) > ($1, $2)",
		"SELECT 1 FROM pg_class", "SELECT 1 FROM :table AS t, pg_class AS c", "SELECT 1 FROM :table AS t JOIN pg_class AS c ON true", "UPDATE task SET a = 1",
		"INSERT INTO task VALUES (1)", "DELETE FROM task", "DELETE FROM :table AS t USING pg_class AS c",
		"UPDATE :table SET a = b = c", "UPDATE :table SET a = CASE WHEN b = 1 THEN 2 END", "UPDATE :table SET a = 1 WHERE b = 2",
		"WITH a AS (SELECT 1) SELECT 1 FROM b", "SELECT unnest($1::pg_catalog.int8[])", "SELECT 1 FROM ROWS FROM (unnest($1))", "SELECT pg_catalog.sum(max(a))",
		"ALTER TABLE :table ADD COLUMN IF NOT EXISTS a int8", "ALTER TABLE :table ADD CHECK (a > 0)", "CREATE INDEX ON :table (lower(a))",
		"CREATE FUNCTION :schema.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'",
		"CREATE FUNCTION :schema.f() RETURNS pg_catalog.trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.a = 1 THEN RETURN NEW; END IF; END $$",
		"DO $$ DECLARE a int; BEGIN END $$", "DO $$ DECLARE a pg_catalog.int4 := 1; b text; BEGIN END $$", "DO $$ BEGIN a := now(); END $$",
		"DO $$ BEGIN IF a THEN RAISE EXCEPTION 'x' USING ERRCODE = b = c; END IF; END $$", "DO $$ BEGIN PERFORM f(); END $$",
		"DO $$ BEGIN EXECUTE pg_catalog.format('SELECT 1 FROM %s AS t WHERE t.id = $1', a) USING OLD.id; END $$", "DO $$ BEGIN EXECUTE 'SELECT ''a''::text'; END $$",
		"CREATE TRIGGER a BEFORE UPDATE OF b ON :table FOR EACH ROW WHEN (NEW.b = 1) EXECUTE FUNCTION :schema.f()",
	} {
		if len(unqualified(sql, 1)) == 0 {
			t.Errorf("nothing is found in %s", sql)
		}
	}
}

func TestQualifiedIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		"SELECT *, -1, t.*, pg_catalog.count(*) FROM :table AS t", "SELECT a OPERATOR(pg_catalog.>) -1 AND b OPERATOR(pg_catalog.=) ANY ('{a,b}')",
		"SELECT coalesce(greatest(1, 2), least(1, 2)) WHERE EXISTS (SELECT) /* = */ -- =", "SELECT '{}'::pg_catalog.text[], (''::pg_catalog.text):::state, '='",
		"UPDATE :table AS t SET a = 1, b = CASE WHEN c OPERATOR(pg_catalog.=) 1 THEN 2 END, d = e FROM x.y AS z", "SET LOCAL lock_timeout = '1s'",
		"SELECT 'public.task'::pg_catalog.regclass, $1::pg_catalog.regrole, a::pg_catalog.timestamptz(0)", "ALTER TABLE :table SET (fillfactor = 50)",
		"WITH a AS MATERIALIZED (SELECT 1), b AS (SELECT 1 FROM a) SELECT FROM b JOIN a ON true FOR UPDATE SKIP LOCKED", "SELECT t.left, t.like FROM :table AS t",
		"SELECT 1 FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2)) AS u (id, pid)", "GRANT SELECT, UPDATE ON :table TO a",
		"ALTER TABLE :table ADD COLUMN IF NOT EXISTS a pg_catalog.int8 DEFAULT nullif(pg_catalog.current_setting('a', true), '')::pg_catalog.int8",
		`DO $$ DECLARE a pg_catalog.int4 := 1; BEGIN IF a THEN RAISE EXCEPTION '%', a USING ERRCODE = 'x', TABLE = b; END IF; a := 2;
			EXECUTE pg_catalog.format('UPDATE %s AS t SET state = ''STOP'' WHERE t.id OPERATOR(pg_catalog.=) $1', a) USING a; END $$`,
	} {
		for _, found := range unqualified(sql, 1) {
			t.Errorf("%s: found %s", sql, found)
		}
	}
}
