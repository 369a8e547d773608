package apply

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"pgtaskd/conf"
)

// Limits of a file's structure: aliases of aliases grow exponentially.
const (
	mostNested = 50
	mostValues = 500_000
)

// parse reads the documents of a YAML or JSON text.
func parse(file, text string) (documents []value, faults conf.Faults) {
	w := walk{file: file, text: text, anchors: map[string]*anchor{}}
	defer func() { // the parser is a library
		if caught := recover(); caught != nil {
			faults.Add(conf.Position{Path: file}, "cannot be read as YAML: the parser fails")
		}
	}()
	parsed, err := parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, conf.Faults{syntax(file, text, err)}
	}
	for _, document := range parsed.Docs {
		if document.Body == nil || document.Body.Type() == ast.CommentType || document.Body.Type() == ast.DirectiveType {
			continue
		}
		documents = append(documents, w.value(document.Body, 0))
	}
	for _, a := range w.single {
		if !a.used {
			w.bare(a.node)
		}
	}
	return documents, w.faults
}

// syntax makes a fault of a parser error. The parser's full text quotes the file, which may hold
// passwords.
func syntax(file, text string, err error) conf.Fault {
	fault := conf.Fault{Position: conf.Position{Path: file}, Message: "is no YAML"}
	var known interface {
		GetMessage() string
		GetToken() *token.Token
	}
	if !errors.As(err, &known) {
		return fault
	}
	fault.Message += ": " + known.GetMessage()
	if t := known.GetToken(); t != nil && t.Position != nil {
		fault.Line, fault.Column, fault.Message = t.Position.Line, t.Position.Column, known.GetMessage()
		for _, line := range []int{fault.Line, fault.Line - 1} { // an indented line makes the value before it longer
			if column, advice := unquoted(text, line); advice != "" {
				fault.Line, fault.Column, fault.Message = line, column, advice
				return fault
			}
		}
		for _, known := range parserWords {
			if strings.Contains(fault.Message, known.part) {
				fault.Message = known.advice
				break
			}
		}
	}
	return fault
}

// parserWords has what to do about some errors, by a part of the parser's text: the first that it
// contains.
var parserWords = []struct{ part, advice string }{
	{"mapping value is not allowed", "a colon stands in a value without quotes, or the next line is indented too far"},
	{"value is not allowed", "a value without quotes is none here, or a line is indented wrongly"},
	{"could not find end character", "the closing quote is missing"},
	{"or ']' must be specified", "a ] is missing, or a comma"},
	{"or '}' must be specified", "a } is missing, or a comma"},
	{"is a reserved character", "quote the value: YAML means something else by its first character"},
	{"cannot start any token", "quote the value: YAML means something else by its first character"},
	{"undefined alias name", "quote the value: * means something else in YAML"},
	{"non-map value is specified", "a colon is missing after a name, or a line is indented wrongly"},
	{"sequence was used where mapping", "a list stands where a map should, or a line is indented wrongly"},
}

// bare matches a line with a value that YAML reads as something else: it begins with a character of
// YAML's own, or a colon is in it.
var bare = regexp.MustCompile("^\\s*(?:-\\s+)?(\\w+)\\s*:\\s+([*@&!%`].*?|[^'\"\\[{|>#\\s].*:\\s.*?)\\s*$")

// unquoted says how to quote the value in a line, and in which column it begins; "" if it needs no
// quotes. It shows only values that hold no passwords.
func unquoted(text string, line int) (column int, advice string) {
	lines := strings.Split(text, "\n")
	if line < 1 || line > len(lines) {
		return 0, ""
	}
	of := lines[line-1]
	if strings.HasPrefix(strings.TrimLeft(of, " "), "\t") {
		return 1, "lines are indented with blanks, not with tabs"
	}
	at := bare.FindStringSubmatchIndex(of)
	if at == nil {
		return 0, ""
	}
	name, shown := of[at[2]:at[3]], "…"
	if name == "cron" || name == "repeat" {
		shown, _, _ = strings.Cut(of[at[4]:at[5]], " #")
	}
	return utf8.RuneCountInString(of[:at[4]]) + 1, fmt.Sprintf(`quote it, as YAML means something else without quotes: %s: "%s"`, name, shown)
}

// walk turns the parser's nodes into values. It stops at the first fault.
type walk struct {
	file    string
	text    string
	anchors map[string]*anchor
	single  []*anchor // of values that are no list and no map
	values  int
	faults  conf.Faults
}

// anchor is a value with a name. If no alias uses it, its & may belong to the value.
type anchor struct {
	node *ast.AnchorNode
	used bool
}

// bare is the fault of a value that YAML reads as something else, since it has no quotes.
func (w *walk) bare(n ast.Node) value {
	column, advice := unquoted(w.text, w.at(n).Line)
	if advice == "" {
		return w.fault(n, "quote the value, as YAML means something else by its first character")
	}
	if len(w.faults) == 0 {
		w.faults.Add(conf.Position{Path: w.file, Line: w.at(n).Line, Column: column}, "%s", advice)
	}
	return value{}
}

func (w *walk) at(n ast.Node) conf.Position {
	if pair, ok := n.(*ast.MappingValueNode); ok { // the pair's own token is the colon
		n = pair.Key
	}
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	p := n.GetToken().Position
	return conf.Position{Path: w.file, Line: p.Line, Column: max(p.Column, 1)}
}

func (w *walk) fault(n ast.Node, format string, args ...any) value {
	if len(w.faults) == 0 {
		w.faults.Add(w.at(n), format, args...)
	}
	return value{}
}

func (w *walk) value(n ast.Node, depth int) value {
	switch w.values++; {
	case len(w.faults) > 0:
		return value{}
	case depth >= mostNested:
		return w.fault(n, "more than %d levels of nesting, with what aliases repeat", mostNested)
	case w.values > mostValues:
		return w.fault(n, "more than %d values, with what aliases repeat", mostValues)
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		a := &anchor{node: n}
		w.anchors[n.Name.GetToken().Value] = a
		v := w.value(n.Value, depth+1)
		if v.kind == scalar || v.kind == null {
			w.single = append(w.single, a)
		}
		return v
	case *ast.AliasNode:
		return w.alias(n, depth)
	case *ast.TagNode:
		return w.tag(n, depth)
	case *ast.SequenceNode:
		v := value{at: w.at(n), kind: list}
		for _, item := range n.Values {
			v.items = append(v.items, w.value(item, depth+1))
		}
		return v
	case *ast.MappingNode:
		return w.object(n, n.Values, depth)
	case *ast.MappingValueNode:
		return w.object(n, []*ast.MappingValueNode{n}, depth)
	case *ast.NullNode:
		return value{at: w.at(n), kind: null}
	case *ast.LiteralNode:
		return value{at: w.at(n), kind: scalar, text: n.Value.Value, quoted: true}
	case *ast.StringNode:
		kindOf := n.GetToken().Type
		v := value{at: w.at(n), kind: scalar, text: n.Value, quoted: kindOf == token.SingleQuoteType || kindOf == token.DoubleQuoteType}
		after := n.GetToken().Next
		v.cut = !v.quoted && after != nil && after.Type == token.CommentType && after.Position.Line == n.GetToken().Position.Line
		return v
	case *ast.MappingKeyNode:
		return w.fault(n, "cannot stand here")
	case ast.ScalarNode: // as written: 007 and 1.10 may be texts
		return value{at: w.at(n), kind: scalar, text: n.GetToken().Value}
	}
	return w.fault(n, "cannot stand here")
}

// tag reads a tag such as !!str. Others of YAML have no effect: the column has a type.
func (w *walk) tag(n *ast.TagNode, depth int) value {
	if n.Value == nil || !strings.HasPrefix(n.GetToken().Value, "!!") {
		return w.bare(n)
	}
	v := w.value(n.Value, depth+1)
	if n.GetToken().Value == "!!str" && v.kind == scalar {
		v.quoted = true
	}
	return v
}

func (w *walk) alias(n *ast.AliasNode, depth int) value {
	name := n.Value.GetToken().Value
	to := w.anchors[name]
	if to == nil {
		return w.fault(n, "no anchor &%s stands before it; quote it if the * belongs to the value", name)
	}
	to.used = true
	v := w.value(to.node.Value, depth+1)
	v.at = w.at(n)
	return v
}

func (w *walk) object(n ast.Node, pairs []*ast.MappingValueNode, depth int) value {
	v := value{at: w.at(n), kind: object}
	lines := map[string]int{}
	var merged []field
	for _, pair := range pairs {
		of := w.value(pair.Value, depth+1)
		if pair.Key.IsMergeKey() {
			merged = append(merged, w.merge(pair.Key, of)...)
			continue
		}
		f := field{w.at(pair.Key), w.name(pair.Key, depth), of}
		if line := lines[f.name]; line > 0 {
			return w.fault(pair.Key, "%q is given twice, first on line %d", f.name, line)
		}
		lines[f.name] = f.at.Line
		v.fields = append(v.fields, f)
	}
	for _, f := range merged { // the map's own value wins, then the first merged one
		if lines[f.name] == 0 {
			lines[f.name] = f.at.Line
			v.fields = append(v.fields, f)
		}
	}
	return v
}

func (w *walk) name(n ast.Node, depth int) string {
	if key, ok := n.(*ast.MappingKeyNode); ok { // ? name
		n = key.Value
	}
	if n.Type() == ast.NullType { // null can be a column's name
		return n.GetToken().Value
	}
	v := w.value(n, depth+1)
	if v.kind != scalar {
		w.fault(n, "must be the name of a column")
	}
	return v.text
}

// merge returns the fields that << adds.
func (w *walk) merge(n ast.Node, of value) (fields []field) {
	from := []value{of}
	if of.kind == list {
		from = of.items
	}
	for _, v := range from {
		if v.kind != object {
			w.fault(n, "<< takes a map, or a list of maps")
		}
		for _, f := range v.fields {
			f.at = w.at(n)
			fields = append(fields, f)
		}
	}
	return fields
}
