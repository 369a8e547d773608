package sql

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// What may stand before a bracket, or before a string, and is syntax: it looks up no function or
// type.
var syntax = words(`all always and any array as by case check coalesce conflict default desc else elsif enum except exception exists from function greatest group if
	in intersect into is join key lateral least like limit materialized not notice of on operator or over perform raise recursive return returning row rows select set some table
	then to union unique using values warning when where with`)

// What looks an operator, a function or a collation up by search_path and cannot say otherwise.
var unsayable = map[string]string{
	"like": "OPERATOR(pg_catalog.~~)", "ilike": "OPERATOR(pg_catalog.~~*)", "similar": "OPERATOR(pg_catalog.~)",
	"between": "two comparisons", "nullif": "CASE WHEN", "natural": "ON", "overlaps": "comparisons", "collate": "nothing", "cast": "::",
	"tablesample": "nothing",
}

// Functions of the system that are written in SQL before PostgreSQL 14: their bodies are read under
// the session's path. So is that of || between a text and anything else.
var pathBound = words(`age bit_length col_description interval_pl_timestamptz lpad obj_description pg_relation_size pg_sleep_for pg_sleep_until quote_literal quote_nullable
	rpad shobj_description substring ts_debug xpath xpath_exists`)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// A bracket that is open, or the text outside all of them.
type bracket struct {
	operator bool // of OPERATOR(…)
	sets     bool // a list of assignments
	assigns  bool // the next = is one
	from     bool // a list of relations
}

// checker looks for what is looked up by search_path in an SQL text.
type checker struct {
	tokens  []lexeme
	levels  []bracket
	ctes    map[string]bool
	begun   int // the statement's first token
	declare bool
	closed  bool // the token before closes OPERATOR(…)
	found   []string
}

// unqualified are the places of an SQL text, which begins in that line, that name a function, an
// operator, a type or a relation without its schema.
func unqualified(sql string, line int) []string {
	sql = strings.ReplaceAll(sql, "#variable_conflict use_variable\n", "\n") // PL/pgSQL's own
	c := &checker{tokens: lex(sql, line), levels: make([]bracket, 1), ctes: map[string]bool{}}
	for i := range c.tokens {
		if c.is(i+1, "as") && (c.is(i+2, "(") || c.is(i+2, "materialized") || c.is(i+2, "not") && c.is(i+3, "materialized")) {
			c.ctes[c.at(i).text] = true
		}
	}
	for i := range c.tokens {
		closed := c.is(i, ")") && c.level().operator
		c.token(i)
		c.closed = closed
	}
	return c.found
}

func (c *checker) at(i int) lexeme {
	if i < 0 || i >= len(c.tokens) {
		return lexeme{kind: markToken}
	}
	return c.tokens[i]
}

// is compares words, marks and operators.
func (c *checker) is(i int, text string) bool {
	t := c.at(i)
	return t.text == text && (t.kind == wordToken || t.kind == markToken || t.kind == operatorToken)
}

func (c *checker) any(i int, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return c.is(i, text) })
}

func (c *checker) level() *bracket { return &c.levels[len(c.levels)-1] }

func (c *checker) report(i int, format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf("%d: %s", c.at(i).line, fmt.Sprintf(format, args...)))
}

func (c *checker) token(i int) {
	switch t := c.at(i); t.kind {
	case operatorToken:
		c.operator(i)
	case castToken:
		if !c.named(i + 1) {
			c.report(i, "cast to %s", c.at(i+1).text)
		}
	case bodyToken:
		c.found = append(c.found, unqualified(t.text, t.line)...)
	case stringToken:
		c.string(i)
	case quotedToken, variableToken:
		c.call(i)
	case wordToken:
		c.call(i)
		if !c.is(i-1, ".") {
			c.word(i)
		}
	case markToken:
		c.mark(i)
	}
}

// named tells whether a type of pg_catalog, or one of ours, comes there.
func (c *checker) named(i int) bool {
	return c.at(i).kind == variableToken || c.is(i, "pg_catalog") && c.is(i+1, ".")
}

func (c *checker) operator(i int) {
	t, level := c.at(i), c.level()
	operand := c.at(i-1).kind != operatorToken && !c.any(i-1, "(", ",", "[") && !c.closed && !(c.at(i-1).kind == wordToken && syntax[c.at(i-1).text])
	switch {
	case level.operator && c.is(i-1, ".") && c.is(i-2, "pg_catalog") && c.is(i-3, "("):
	case t.text == "<<" && c.is(i+2, ">>") || t.text == ">>" && c.is(i-2, "<<"): // a label
	case t.text == "*" && (!operand || c.is(i-1, ".")): // all columns, or rows
	case strings.Trim(t.text, "+-") == "" && !operand && c.at(i+1).kind == numberToken: // a number's sign
	case t.text == "=" && level.assigns:
		level.assigns = false
	default:
		c.report(i, "operator %s", t.text)
	}
}

var (
	resolved  = regexp.MustCompile(`^reg(?:class|proc|procedure|oper|operator|type|collation|config|dictionary)$`)
	statement = regexp.MustCompile(`^\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE)\s`)
)

// string looks at what a string is read as: a statement, the name of an object, a value of a type.
func (c *checker) string(i int) {
	t, before := c.at(i), c.at(i-1)
	switch {
	case statement.MatchString(t.text):
		c.found = append(c.found, unqualified(t.text, t.line)...)
	case c.at(i+1).kind == castToken && c.is(i+2, "pg_catalog") && resolved.MatchString(c.at(i+4).text) && !strings.Contains(t.text, "."):
		c.report(i, "name %q", t.text)
	case before.kind == wordToken && !syntax[before.text] && !c.is(i-2, "."):
		c.report(i, "literal of type %s", before.text)
	}
}

// call looks at what comes before a bracket.
func (c *checker) call(i int) {
	t := c.at(i)
	switch {
	case !c.is(i+1, "("):
	case c.is(i-1, "."):
		if !c.is(i-2, "pg_catalog") && c.at(i-2).kind != variableToken || pathBound[t.text] {
			c.report(i, "function %s of %s", t.text, c.at(i-2).text)
		}
	case t.kind == variableToken, c.is(i-1, "as"), t.kind == wordToken && (syntax[t.text] || unsayable[t.text] != ""):
	default:
		c.report(i, "function %s", t.text)
	}
}

func (c *checker) word(i int) {
	t, level := c.at(i), c.level()
	if better := unsayable[t.text]; better != "" && !(t.text == "nullif" && c.after(i, "default")) {
		c.report(i, "%s: write %s", t.text, better)
	}
	switch t.text {
	case "in":
		if c.is(i+1, "(") {
			c.report(i, "in: write OPERATOR(pg_catalog.=) ANY")
		}
	case "distinct":
		if c.is(i-1, "is") || c.is(i-1, "not") {
			c.report(i, "is distinct from: write comparisons")
		}
	case "case":
		if !c.is(i+1, "when") && !c.any(i-1, "end") {
			c.report(i, "case: write CASE WHEN")
		}
	case "time":
		if c.is(i-1, "at") {
			c.report(i, "at time zone: write pg_catalog.timezone")
		}
	case "using":
		c.using(i)
	case "set":
		*level = bracket{sets: true, assigns: true}
	case "from":
		*level = bracket{from: true}
		if !c.is(i+1, "public") || c.is(i+2, ".") { // REVOKE … FROM PUBLIC
			c.relation(i + 1)
		}
	case "join":
		c.relation(i + 1)
	case "into", "update":
		if t.text == "update" && !c.any(i+1, "of", "set", "skip", "on") || c.is(i-1, "insert") {
			c.relation(i + 1)
		}
	case "select", "where", "order", "group", "limit", "returning", "union", "except", "for":
		level.sets, level.assigns, level.from = false, false, false
	case "declare":
		c.declare = true
		c.declared(i + 1)
	case "begin", "then", "else", "loop":
		c.declare, c.begun = false, i+1
	case "returns":
		if !c.is(i+1, "table") { // whose columns have types with their schema
			c.typed(i + 1)
		}
	case "exists":
		if c.is(i-3, "column") { // IF NOT EXISTS
			c.typed(i + 2)
		}
	}
}

// after tells whether the word has come in the same statement.
func (c *checker) after(i int, text string) bool {
	for i > c.begun {
		if i--; c.is(i, text) {
			return true
		}
	}
	return false
}

// using is of JOIN, DELETE, RAISE or EXECUTE.
func (c *checker) using(i int) {
	switch {
	case c.is(i+1, "("):
		c.report(i, "using: write ON")
	case c.is(c.begun, "raise"):
		c.level().sets, c.level().assigns = true, true
	case !c.is(c.begun, "execute"):
		c.relation(i + 1)
	}
}

// relation is named with its schema, by a variable, or is a query of the same statement.
func (c *checker) relation(i int) {
	t := c.at(i)
	switch {
	case t.kind != wordToken && t.kind != quotedToken, c.is(i+1, "."), c.any(i, "lateral", "only", "rows"), c.ctes[t.text]:
	default:
		c.report(i, "relation %s", t.text)
	}
}

func (c *checker) typed(i int) {
	if !c.named(i) {
		c.report(i, "type %s", c.at(i).text)
	}
}

// declared looks at the type of a variable, if there is one.
func (c *checker) declared(i int) {
	if c.declare && c.at(i).kind == wordToken && !c.is(i, "begin") && i+1 < len(c.tokens) && !c.any(i+1, "cursor", "alias") {
		c.typed(i + 1)
	}
}

func (c *checker) mark(i int) {
	switch c.at(i).text {
	case "(":
		c.levels = append(c.levels, bracket{operator: c.is(i-1, "operator"), sets: c.any(i-1, "set", "with"), assigns: c.any(i-1, "set", "with")})
	case ")":
		if len(c.levels) > 1 {
			c.levels = c.levels[:len(c.levels)-1]
		}
	case ",":
		c.level().assigns = c.level().sets
		if c.level().from {
			c.relation(i + 1)
		}
	case ";":
		c.levels, c.begun = make([]bracket, 1), i+1
		c.declared(i + 1)
	}
}
