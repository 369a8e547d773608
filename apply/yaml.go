package apply

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a file's structure. Deeper nesting would overflow the parser's stack; aliases of
// aliases grow without end.
const (
	mostNested = 50
	mostValues = 500_000
	mostText   = 64 << 20 // bytes
	mostSigns  = 500_000  // each may take the parser a kilobyte
)

// parse reads the documents of a text of YAML, or JSON.
func parse(file, text string) (documents []value, err error) {
	defer func() { // the parser is somebody else's
		if caught := recover(); caught != nil {
			err = Fault{File: file, Message: "cannot be read as YAML: the parser fails"}
		}
	}()
	signs := 0
	for i := range len(text) {
		if strings.IndexByte("[]{},:?&*!", text[i]) >= 0 {
			signs++
		}
	}
	if signs > mostSigns {
		return nil, Fault{File: file, Message: fmt.Sprintf("has more than %d of the signs []{},:?&*! together: make several files of it", mostSigns)}
	}
	tokens := lexer.Tokenize(text)
	if at := tooDeep(tokens); at != nil {
		return nil, Fault{file, at.Position.Line, at.Position.Column, fmt.Sprintf("more than %d levels of nesting", mostNested)}
	}
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntax(file, err)
	}
	w := walk{file: file, anchors: map[string]ast.Node{}}
	for _, document := range parsed.Docs {
		if document.Body == nil || document.Body.Type() == ast.CommentType || document.Body.Type() == ast.DirectiveType {
			continue
		}
		v, err := w.value(document.Body, 0)
		if err != nil {
			return nil, err
		}
		documents = append(documents, v)
	}
	return documents, nil
}

// tooDeep is the token at which the nesting is deeper than anybody's; nil: it is not. Blocks nest
// by their columns, or by several signs on a line.
func tooDeep(tokens token.Tokens) *token.Token {
	flow, signs, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, signs = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow = max(flow-1, 0)
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType:
			if flow == 0 {
				signs++
			}
		}
		if flow > mostNested || signs > mostNested || signs > 0 && t.Position.IndentNum > 8*mostNested {
			return t
		}
	}
	return nil
}

// syntax is a fault of the parser's. Its own text quotes the file, which may hold passwords.
func syntax(file string, err error) error {
	var known interface {
		GetMessage() string
		GetToken() *token.Token
	}
	if !errors.As(err, &known) {
		return Fault{File: file, Message: "is no YAML"}
	}
	fault := Fault{File: file, Message: "is no YAML: " + known.GetMessage()}
	if t := known.GetToken(); t != nil && t.Position != nil {
		fault.Line, fault.Column, fault.Message = t.Position.Line, t.Position.Column, known.GetMessage()
	}
	return fault
}

// walk turns the parser's nodes into values.
type walk struct {
	file    string
	anchors map[string]ast.Node
	values  int
	text    int // bytes
}

func (w *walk) at(n ast.Node) place {
	if pair, ok := n.(*ast.MappingValueNode); ok { // its own token is the colon
		n = pair.Key
	}
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	p := n.GetToken().Position
	return place{w.file, p.Line, max(p.Column, 1)}
}

func (w *walk) fault(n ast.Node, format string, args ...any) error {
	at := w.at(n)
	return Fault{at.file, at.line, at.column, fmt.Sprintf(format, args...)}
}

func (w *walk) value(n ast.Node, depth int) (value, error) {
	v, err := w.read(n, depth)
	w.values, w.text = w.values+1, w.text+len(v.text)
	switch {
	case err != nil:
		return value{}, err
	case w.values > mostValues:
		return value{}, w.fault(n, "more than %d values, with what aliases repeat", mostValues)
	case w.text > mostText:
		return value{}, w.fault(n, "more than %d MiB of text, with what aliases repeat", mostText>>20)
	}
	return v, nil
}

func (w *walk) read(n ast.Node, depth int) (value, error) {
	if depth > 2*mostNested {
		return value{}, w.fault(n, "more than %d levels of nesting, with what aliases repeat", 2*mostNested)
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		w.anchors[n.Name.GetToken().Value] = n.Value
		return w.value(n.Value, depth+1)
	case *ast.AliasNode:
		return w.alias(n, depth)
	case *ast.TagNode:
		return w.tag(n, depth)
	case *ast.SequenceNode:
		v := value{at: w.at(n), kind: list}
		for _, item := range n.Values {
			of, err := w.value(item, depth+1)
			if err != nil {
				return value{}, err
			}
			v.items = append(v.items, of)
		}
		return v, nil
	case *ast.MappingNode:
		return w.object(n, n.Values, depth)
	case *ast.MappingValueNode:
		return w.object(n, []*ast.MappingValueNode{n}, depth)
	case *ast.NullNode:
		return value{at: w.at(n), kind: null}, nil
	case *ast.LiteralNode:
		return value{at: w.at(n), kind: scalar, text: n.Value.Value, quoted: true}, nil
	case *ast.StringNode:
		kindOf := n.GetToken().Type
		return value{at: w.at(n), kind: scalar, text: n.Value, quoted: kindOf == token.SingleQuoteType || kindOf == token.DoubleQuoteType}, nil
	case *ast.MappingKeyNode:
		return value{}, w.fault(n, "cannot stand here")
	case ast.ScalarNode: // as it is written: 007 and 1.10 may be texts
		return value{at: w.at(n), kind: scalar, text: n.GetToken().Value}, nil
	default:
		return value{}, w.fault(n, "cannot stand here")
	}
}

// tag reads !!str and the other tags, which repeat the column's type.
func (w *walk) tag(n *ast.TagNode, depth int) (value, error) {
	if n.Value == nil {
		return value{}, w.fault(n, "a tag without a value")
	}
	v, err := w.value(n.Value, depth+1)
	if n.GetToken().Value == "!!str" && v.kind == scalar {
		v.quoted = true
	}
	return v, err
}

func (w *walk) alias(n *ast.AliasNode, depth int) (value, error) {
	name := n.Value.GetToken().Value
	to, known := w.anchors[name]
	if !known {
		return value{}, w.fault(n, "no anchor &%s stands before it", name)
	}
	v, err := w.value(to, depth+1)
	v.at = w.at(n)
	return v, err
}

func (w *walk) object(n ast.Node, pairs []*ast.MappingValueNode, depth int) (value, error) {
	v := value{at: w.at(n), kind: object}
	lines := map[string]int{}
	var merged []field
	for _, pair := range pairs {
		of, err := w.value(pair.Value, depth+1)
		if err != nil {
			return value{}, err
		}
		if pair.Key.IsMergeKey() {
			more, err := w.merge(pair.Key, of)
			if err != nil {
				return value{}, err
			}
			merged = append(merged, more...)
			continue
		}
		name, err := w.name(pair.Key, depth)
		if err != nil {
			return value{}, err
		}
		if line := lines[name]; line > 0 {
			return value{}, w.fault(pair.Key, "%q is given twice, first on line %d", name, line)
		}
		lines[name] = w.at(pair.Key).line
		v.fields = append(v.fields, field{w.at(pair.Key), name, of})
	}
	for _, f := range merged { // the map's own value is stronger, and the first of several
		if lines[f.name] == 0 {
			lines[f.name] = f.at.line
			v.fields = append(v.fields, f)
		}
	}
	return v, nil
}

func (w *walk) name(n ast.MapKeyNode, depth int) (string, error) {
	if key, ok := n.(*ast.MappingKeyNode); ok {
		inner, ok := key.Value.(ast.MapKeyNode)
		if !ok || depth > mostNested {
			return "", w.fault(n, "must be the name of a column")
		}
		return w.name(inner, depth+1)
	}
	if n.Type() == ast.NullType { // a column's name as well
		return n.GetToken().Value, nil
	}
	v, err := w.value(n, depth+1)
	if err != nil || v.kind != scalar {
		return "", w.fault(n, "must be the name of a column")
	}
	return v.text, nil
}

// merge are the fields that << brings in.
func (w *walk) merge(n ast.Node, of value) ([]field, error) {
	from := []value{of}
	if of.kind == list {
		from = of.items
	}
	var fields []field
	for _, v := range from {
		if v.kind != object {
			return nil, w.fault(n, "<< takes a map, or a list of maps")
		}
		for _, f := range v.fields {
			f.at = w.at(n)
			fields = append(fields, f)
		}
	}
	return fields, nil
}
