package algorithms_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// A library is what one package declares: "Name", "Type.Method", "Type.Field".
type library struct {
	name    string
	names   map[string]bool
	files   []*ast.File
	imports map[string]bool // names that its files import packages by
}

// The patterns find names in comments and documents.
var (
	qualified  = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.([A-Z]\w*)\b`)
	targetLine = regexp.MustCompile("(?m)(?:`|^\\s*(?:\\$ |//\t|- run: |\\w+=\\d+ )*)make ([a-z-]+)\\b")
	target     = regexp.MustCompile(`(?m)^([a-z-]+):`)
	importPath = regexp.MustCompile(`^[A-Za-z_]\w*([./][\w-]+)*$`) // or Type.method, which no web page links
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code       = regexp.MustCompile("(?s)```.*?```|`[^`\n]+`")
)

// nameFaults reads the tree and returns the names that comments and documents
// mention and nothing bears: links in doc comments, names qualified by a package of
// this module, targets of make, and the files that documents link to.
func nameFaults(tree fs.FS) ([]string, error) {
	libraries := map[string]*library{}
	var documents []string
	fset := token.NewFileSet()
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if name == "out" || base == "testdata" || base == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		switch path.Ext(name) {
		case ".go":
			return addFile(libraries, fset, tree, name)
		case ".md", ".yml":
			documents = append(documents, name)
		}
		if name == "Makefile" || name == ".ci/run" {
			documents = append(documents, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	makefile, err := fs.ReadFile(tree, "Makefile")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	targets := map[string]bool{}
	for _, m := range target.FindAllSubmatch(makefile, -1) {
		targets[string(m[1])] = true
	}
	byName := map[string]*library{}
	for _, l := range libraries {
		byName[l.name] = l
	}

	var faults []string
	// text looks for qualified names and targets in a text that stands at a place.
	text := func(at, in string, s string) {
		for _, m := range qualified.FindAllStringSubmatch(in, -1) {
			if l := byName[m[1]]; l != nil && !l.names[m[2]] {
				faults = append(faults, fmt.Sprintf("%s: there is no %s", at, m[0]))
			}
		}
		for _, m := range targetLine.FindAllStringSubmatch(s, -1) {
			if !targets[m[1]] {
				faults = append(faults, fmt.Sprintf("%s: there is no make %s", at, m[1]))
			}
		}
	}
	for dir, l := range libraries {
		for _, f := range l.files {
			for _, group := range f.Comments {
				var raw []string
				for _, c := range group.List {
					raw = append(raw, c.Text)
				}
				text(fset.Position(group.Pos()).String(), group.Text(), strings.Join(raw, "\n"))
			}
			for _, group := range docsOf(f) {
				for _, d := range docLinks(group.Text()) {
					if !resolves(d, l, libraries, byName) {
						faults = append(faults, fmt.Sprintf("%s: [%s] links to nothing in %s", fset.Position(group.Pos()), linkText(d), dir))
					}
				}
			}
		}
	}
	for _, name := range documents {
		b, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		s := string(b)
		text(name, strings.Join(code.FindAllString(s, -1), "\n"), s)
		if path.Ext(name) != ".md" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(s, -1) {
			file, _, _ := strings.Cut(m[1], "#")
			if file == "" || strings.Contains(file, ":") {
				continue // a place in this file, or on the web
			}
			if _, err := fs.Stat(tree, path.Join(path.Dir(name), file)); err != nil {
				faults = append(faults, fmt.Sprintf("%s: links to %s, which is not there", name, m[1]))
			}
		}
	}
	slices.Sort(faults)
	return faults, nil
}

// addFile parses the file and adds what it declares to the package of its folder.
// Tests of a folder count as a package of their own, which may name all of it.
func addFile(libraries map[string]*library, fset *token.FileSet, tree fs.FS, name string) error {
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	l := libraries[dir]
	if l == nil {
		l = &library{name: strings.TrimSuffix(f.Name.Name, "_test"), names: map[string]bool{}, imports: map[string]bool{}}
		libraries[dir] = l
	}
	l.files = append(l.files, f)
	for _, i := range f.Imports {
		imported, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return err
		}
		l.imports[imported] = true
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d.Recv.List[0].Type) + "." + name
			}
			l.names[name] = true
		case *ast.GenDecl:
			for _, s := range d.Specs {
				l.declare(s)
			}
		}
	}
	return nil
}

// declare adds what a declaration of types, constants or variables names.
func (l *library) declare(s ast.Spec) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			l.names[n.Name] = true
		}
	case *ast.TypeSpec:
		l.names[s.Name.Name] = true
		var parts *ast.FieldList
		switch t := s.Type.(type) {
		case *ast.StructType:
			parts = t.Fields
		case *ast.InterfaceType:
			parts = t.Methods
		default:
			return
		}
		for _, p := range parts.List {
			for _, n := range p.Names {
				l.names[s.Name.Name+"."+n.Name] = true
			}
		}
	}
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// docsOf returns the comments of a file that document something.
func docsOf(f *ast.File) []*ast.CommentGroup {
	var groups []*ast.CommentGroup
	add := func(g *ast.CommentGroup) {
		if g != nil {
			groups = append(groups, g)
		}
	}
	add(f.Doc)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Doc)
			return false
		case *ast.GenDecl:
			add(n.Doc)
		case *ast.TypeSpec:
			add(n.Doc)
		case *ast.ValueSpec:
			add(n.Doc)
		case *ast.Field:
			add(n.Doc)
		}
		return true
	})
	return groups
}

// docLinks returns the links of a doc comment to packages and what they declare.
func docLinks(text string) []*comment.DocLink {
	var links []*comment.DocLink
	// Whatever could be a link is one, so that it can be found not to lead anywhere.
	p := comment.Parser{
		LookupSym:     func(recv, name string) bool { return true },
		LookupPackage: func(name string) (string, bool) { return name, importPath.MatchString(name) },
	}
	var walk func(texts []comment.Text)
	walk = func(texts []comment.Text) {
		for _, t := range texts {
			switch t := t.(type) {
			case *comment.DocLink:
				links = append(links, t)
			case *comment.Link:
				walk(t.Text)
			}
		}
	}
	var blocks func([]comment.Block)
	blocks = func(bs []comment.Block) {
		for _, b := range bs {
			switch b := b.(type) {
			case *comment.Paragraph:
				walk(b.Text)
			case *comment.Heading:
				walk(b.Text)
			case *comment.List:
				for _, i := range b.Items {
					blocks(i.Content)
				}
			}
		}
	}
	blocks(p.Parse(text).Content)
	return links
}

// resolves says whether the link of a comment in the package leads to something.
// What other modules declare is not looked up, but they have to be imported.
func resolves(d *comment.DocLink, from *library, libraries, byName map[string]*library) bool {
	if from.names[linkText(d)] {
		return true
	}
	symbol := strings.TrimPrefix(d.Recv+"."+d.Name, ".")
	to := byName[d.ImportPath]
	if ours, ok := strings.CutPrefix(d.ImportPath, module+"/"); ok {
		to = libraries[ours]
	}
	if to != nil {
		return d.Name == "" || to.names[symbol]
	}
	for imported := range from.imports {
		if imported == d.ImportPath || path.Base(imported) == d.ImportPath {
			return true
		}
	}
	return false
}

func linkText(d *comment.DocLink) string {
	parts := []string{d.ImportPath, d.Recv, d.Name}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ".")
}

func TestEveryNameInACommentOrDocumentIsThere(t *testing.T) {
	faults, err := nameFaults(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Error(f)
	}
}

func TestANameThatIsNotThereIsFound(t *testing.T) {
	tree := fstest.MapFS{
		"Makefile":             {Data: []byte("bench: ## measure\n\ttrue\n")},
		"README.md":            {Data: []byte("`make bench`, `make benhc`, see [p](p/p.go), [q](q#r), [w](https://example.org/x); `p.T` `p.Gone` p.Prose\n")},
		".github/ci.yml":       {Data: []byte("      - run: make lint\n")},
		"out/README.md":        {Data: []byte("`make nothing`\n")},
		"algorithms/p/p.go":    {Data: []byte("// Package p is. See [T], [T.M], [T.F], [I.N], [T.X], [Lost], [os.File], [q.Q], [r.R], [list/heap].\n//\n//\tp.Build()\n//\tp.New()\npackage p\n\nimport _ \"os\"\n\n// New is.\nfunc New() {}\n\ntype T struct{ F int }\n\n// M differs from q.Z and x[T.X], see [json.Number].\nfunc (t *T) M() {}\n\n// o is no [T.o], see [New], [T.m], [A-Z.] or [0].\nfunc (t *T) m() {}\n\ntype I interface{ N() }\n")},
		"algorithms/q/q.go":    {Data: []byte("package q\n\nvar Q int\n")},
		"p/p.go":               {Data: []byte("package other\n")},
		"p/testdata/lost.go":   {Data: []byte("// See [Lost].\npackage lost\n")},
		"algorithms/README.md": {Data: []byte("[up](../README.md) [none](p/none.go)\n")},
	}
	got, err := nameFaults(tree)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		".github/ci.yml: there is no make lint",
		"README.md: links to q#r, which is not there",
		"README.md: there is no make benhc",
		"README.md: there is no p.Gone",
		"algorithms/README.md: links to p/none.go, which is not there",
		"algorithms/p/p.go:14:1: [json.Number] links to nothing in algorithms/p",
		"algorithms/p/p.go:14:1: there is no q.Z",
		"algorithms/p/p.go:17:1: [T.o] links to nothing in algorithms/p",
		"algorithms/p/p.go:1:1: [Lost] links to nothing in algorithms/p",
		"algorithms/p/p.go:1:1: [T.X] links to nothing in algorithms/p",
		"algorithms/p/p.go:1:1: [list/heap] links to nothing in algorithms/p",
		"algorithms/p/p.go:1:1: [r.R] links to nothing in algorithms/p",
		"algorithms/p/p.go:1:1: there is no p.Build",
	}
	if !slices.Equal(got, want) {
		t.Errorf("faults\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
