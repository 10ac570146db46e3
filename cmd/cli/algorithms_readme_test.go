package cli

import (
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/builtin"
)

const algorithmsReadme = "../../algorithms/README.md"

// algorithms/README.md is made of what each algorithm says of itself: its Info,
// its method set, and for a system that is reproduced its package comment.
// `make figures` writes it anew.
func TestReadmeOfTheAlgorithmsIsWhatTheySayOfThemselves(t *testing.T) {
	old, err := os.ReadFile(algorithmsReadme)
	if err != nil {
		t.Fatal(err)
	}
	folders := foldersOfAlgorithms(t)
	text := splice(t, string(old), "table: make figures", "table", algorithmTable(t, folders))
	text = splice(t, text, "systems: make figures", "systems", systemPages(t, folders))
	if *update {
		if err := os.WriteFile(algorithmsReadme, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(old), text); diff != "" {
		t.Errorf("algorithms/README.md is stale, run make figures:\n%s", diff)
	}
}

// A folder is where an algorithm lives, and the comment of its package.
type folder struct{ path, doc string }

// foldersOfAlgorithms finds the folder of each algorithm by its call of Define.
func foldersOfAlgorithms(t *testing.T) map[string]folder {
	t.Helper()
	root := filepath.Dir(algorithmsReadme)
	var files []string
	for _, pattern := range []string{"*/*.go", "compat/*/*.go"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	all, docs := map[string]folder{}, map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		path, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		path = filepath.ToSlash(path)
		docs[path] += f.Doc.Text()
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 {
				name, isText := call.Args[0].(*ast.BasicLit)
				if fun, ok := call.Fun.(*ast.SelectorExpr); ok && isText && fun.Sel.Name == "Define" {
					all[strings.Trim(name.Value, `"`)] = folder{path: path}
				}
			}
			return true
		})
	}
	for name, f := range all {
		f.doc = docs[f.path]
		all[name] = f
	}
	return all
}

var year = regexp.MustCompile(`\b(19|20)\d\d\b`)

// algorithmTable has a line for each algorithm.
func algorithmTable(t *testing.T, folders map[string]folder) string {
	var b strings.Builder
	b.WriteString("| algorithm | paper or source | year | parameters | can | a lookup costs | memory | declines |\n|---|---|---|---|---|---|---|---|\n")
	for _, info := range builtin.All() {
		f, ok := folders[info.Name]
		if !ok {
			t.Errorf("no folder defines %s", info.Name)
		}
		if info.Cost == "" || info.Memory == "" {
			t.Errorf("%s does not say what a lookup costs and what it takes, see Info.Costing", info.Name)
		}
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s | %s | %s | %s | %s | %s |\n", info.Name, f.path, info.Ref, dash(year.FindString(info.Ref)),
			dash(code(paramText(info.Defaults))), dash(strings.Join(can(t, info), ", ")), info.Cost, info.Memory, dash(strings.Join(info.Declines, ", ")))
	}
	return b.String()
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// can names the abilities of an algorithm beyond looking up.
func can(t *testing.T, info algorithms.Info) (words []string) {
	e, err := abilities(info)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := info.New(algorithms.Nodes("a", "b", "c"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, batch := m.(algorithms.BatchMapper)
	_, owned := m.(algorithms.Owned)
	_, shares := m.(algorithms.Sharer)
	for _, a := range []struct {
		has  bool
		word string
	}{
		{e.Weights, "weights"}, {e.Replicas, "replicas"}, {e.Add, "add"}, {e.Remove != "none", "remove " + e.Remove},
		{e.Bounded, "bounded load"}, {e.KeyMapper, "own key hash"}, {batch, "batch"}, {owned || shares, "exact shares"},
	} {
		if a.has {
			words = append(words, a.word)
		}
	}
	return words
}

// systemPages has a line for each system that is reproduced, and below that what
// the comment of its package says.
func systemPages(t *testing.T, folders map[string]folder) string {
	var table, pages strings.Builder
	table.WriteString("| algorithm | follows | boundary: a key belongs to | weights | a change moves only what it must |\n|---|---|---|---|---|\n")
	shown := map[string]bool{}
	for _, info := range builtin.All() {
		f := folders[info.Name]
		if !strings.HasPrefix(f.path, "compat/") {
			continue
		}
		says := rules(f.doc)
		if other := regexp.MustCompile(`see package (\w+)`).FindStringSubmatch(f.doc); other != nil {
			for key, text := range rules(docOf(folders, other[1])) {
				if says[key] == "" {
					says[key] = text
				}
			}
		}
		for _, key := range []string{"Key", "Weights", "A change"} {
			if says[key] == "" {
				t.Errorf("the comment of %s has no item %q", f.path, key)
			}
		}
		boundary := "none, see below"
		if says["Boundary"] != "" {
			boundary = sentence(says["Boundary"])
		}
		e, err := abilities(info)
		if err != nil {
			t.Fatal(err)
		}
		least := "yes"
		if slices.Contains(info.Declines, algorithms.MinimalMovement) {
			least = "no"
		} else if e.Remove == "last" {
			least = "yes, and only the last can leave"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s |\n", info.Name, info.Ref, boundary, yes(e.Weights), least)
		if shown[f.path] {
			continue
		}
		shown[f.path] = true
		var parse comment.Parser
		parse.LookupSym = func(recv, name string) bool { return false }
		print := comment.Printer{HeadingLevel: 4, HeadingID: func(*comment.Heading) string { return "" }}
		fmt.Fprintf(&pages, "\n### %s\n\n%s", filepath.Base(f.path), print.Markdown(parse.Parse(f.doc)))
	}
	return table.String() + pages.String()
}

func docOf(folders map[string]folder, pkg string) string {
	for _, f := range folders {
		if filepath.Base(f.path) == pkg {
			return f.doc
		}
	}
	return ""
}

// rules returns the items of the lists in a package comment that begin with a
// word and a colon, by that word.
func rules(doc string) map[string]string {
	says := map[string]string{}
	var parse comment.Parser
	for _, block := range parse.Parse(doc).Content {
		list, ok := block.(*comment.List)
		if !ok {
			continue
		}
		for _, item := range list.Items {
			var printer comment.Printer
			printer.TextWidth = -1
			text := strings.TrimSpace(string(printer.Text(&comment.Doc{Content: item.Content})))
			if key, rest, found := strings.Cut(text, ": "); found && says[key] == "" {
				says[key] = rest
			}
		}
	}
	return says
}

// sentence returns the first sentence of a text, without its full stop.
func sentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(first, ".")
}
