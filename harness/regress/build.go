package regress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/ringbench/ringbench/results"
)

// A Source says which two states of a repository are built into programs.
type Source struct {
	Base    string // revision; what it has in common with head is built
	Head    string // revision; "" is the working tree, with what is not committed
	Package string // of the command, such as "./cmd/ringbench"
	Layouts int    // links a side; 0 is DefaultLayouts
	Symbols bool   // link each side once more, with symbols
}

// DefaultLayouts is how many layouts of its functions a side is linked in. One
// alone moves a branchy loop by up to 2.5%.
const DefaultLayouts = 8

// folderPrefix begins the names of the folders that comparisons work in, in the
// system's folder for temporary files. Beside each folder stands its lock.
const (
	folderPrefix = "ringbench-compare-"
	lockSuffix   = ".lock"
)

// repositoryFile names, within a folder, where its worktrees are registered.
const repositoryFile = "repository"

// A Folder holds the worktrees and programs of one comparison.
type Folder struct {
	dir        string
	lock       *os.File
	repository string // top of the repository; "" for none
}

// NewFolder makes a folder for a comparison, after removing those of comparisons
// that were killed.
func NewFolder() (*Folder, error) {
	RemoveLeftovers()
	lock, err := os.CreateTemp("", folderPrefix+"*"+lockSuffix)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: strings.TrimSuffix(lock.Name(), lockSuffix), lock: lock}
	if _, err = results.Lock(lock); err == nil {
		err = os.Mkdir(f.dir, 0o700)
	}
	if err != nil {
		return nil, errors.Join(err, f.Remove())
	}
	return f, nil
}

// Remove removes the folder with all that is in it, and its worktrees from their
// repository.
func (f *Folder) Remove() error {
	unregister(f.repository, f.dir)
	err := os.RemoveAll(f.dir)
	f.lock.Close()
	return errors.Join(err, os.Remove(f.lock.Name()))
}

// unregister removes the worktrees of a folder. It is done as far as it can be:
// what remains is an entry that git itself prunes.
func unregister(repository, dir string) {
	if repository == "" {
		return
	}
	for _, side := range []string{"base", "head"} {
		tree := filepath.Join(dir, side)
		if _, err := os.Stat(tree); err == nil {
			_ = exec.Command("git", "-C", repository, "worktree", "remove", "--force", "--force", tree).Run()
		}
	}
}

// RemoveLeftovers removes the folders of comparisons whose process is gone.
func RemoveLeftovers() {
	locks, _ := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"+lockSuffix)) // the pattern is sound
	for _, name := range locks {
		lock, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue // it is another user's, or was removed just now
		}
		f := &Folder{dir: strings.TrimSuffix(name, lockSuffix), lock: lock}
		if free, err := results.Lock(lock); !free || err != nil {
			lock.Close()
			continue
		}
		repository, _ := os.ReadFile(filepath.Join(f.dir, repositoryFile)) // none: it was killed before it had worktrees
		f.repository = string(repository)
		_ = f.Remove() // the next comparison tries again
	}
}

// Build builds both sides into the folder. The working directory must be in the
// repository. What the user can mend wraps [ErrSource].
func (f *Folder) Build(ctx context.Context, src Source, progress func(Progress)) (base, head Side, err error) {
	if src.Layouts == 0 {
		src.Layouts = DefaultLayouts
	}
	g := git{ctx}
	top, err := g.run("rev-parse", "--show-toplevel")
	if err != nil {
		return base, head, fmt.Errorf("%w: not in a git repository, give --base-binary and --head-binary: %w", ErrSource, err)
	}
	f.repository = top
	if err := os.WriteFile(filepath.Join(f.dir, repositoryFile), []byte(top), 0o666); err != nil {
		return base, head, err
	}
	prefix, err := g.run("rev-parse", "--show-prefix")
	if err != nil {
		return base, head, err
	}
	headRevision := src.Head
	if headRevision == "" {
		headRevision = "HEAD"
	}
	headCommit, err := g.commit(headRevision)
	if err != nil {
		return base, head, err
	}
	baseCommit, err := g.commit(src.Base)
	if err != nil {
		return base, head, err
	}
	common, err := g.run("merge-base", baseCommit, headCommit)
	if err != nil {
		return base, head, fmt.Errorf("%w: %s and %s have no commit in common here; a shallow clone needs its history (fetch-depth: 0)", ErrSource, src.Base, headRevision)
	}
	base.Name = fmt.Sprintf("%s at %s", src.Base, short(common))
	if common != baseCommit {
		base.Name = fmt.Sprintf("%s, where head left it, at %s", src.Base, short(common))
	}
	baseDir, err := f.worktree(g, "base", common)
	if err != nil {
		return base, head, err
	}
	headDir := top
	if src.Head != "" {
		head.Name = fmt.Sprintf("%s at %s", src.Head, short(headCommit))
		if headDir, err = f.worktree(g, "head", headCommit); err != nil {
			return base, head, err
		}
	} else {
		changed, err := g.run("status", "--porcelain")
		if err != nil {
			return base, head, err
		}
		head.Name = "the working tree at " + short(headCommit)
		if changed != "" {
			head.Name += fmt.Sprintf(", with %s changed", plural(strings.Count(changed, "\n")+1, "file"))
		}
	}
	if src.isNew(filepath.Join(baseDir, prefix), filepath.Join(headDir, prefix)) {
		src.Layouts = 1 // that head builds is all there is to see
	} else {
		err = base.build(&build{ctx: ctx, folder: f.dir, dir: filepath.Join(baseDir, prefix), name: "base", pkg: src.Package, from: filepath.Join(top, prefix)}, src, progress)
	}
	if err != nil {
		return base, head, err
	}
	err = head.build(&build{ctx: ctx, folder: f.dir, dir: filepath.Join(headDir, prefix), name: "head", pkg: src.Package, from: filepath.Join(top, prefix)}, src, progress)
	return base, head, err
}

// isNew says whether head has the package and base does not, as in the change that
// brings it.
func (src Source) isNew(base, head string) bool {
	has := func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, src.Package))
		return err == nil
	}
	return strings.HasPrefix(src.Package, ".") && !has(base) && has(head)
}

// BuildHere builds the working directory's package into the folder, as the one
// side of a program that is compared with itself.
func (f *Folder) BuildHere(ctx context.Context, pkg string, layouts int, progress func(Progress)) (Side, error) {
	dir, err := os.Getwd()
	if err != nil {
		return Side{}, err
	}
	side := Side{Name: "this program"}
	err = side.build(&build{ctx: ctx, folder: f.dir, dir: dir, name: "program", pkg: pkg, from: dir}, Source{Layouts: layouts}, progress)
	return side, err
}

// build links the side as the source says.
func (s *Side) build(b *build, src Source, progress func(Progress)) (err error) {
	for i := range src.Layouts + 1 {
		if progress != nil {
			progress(Progress{"building " + b.name, i, src.Layouts})
		}
		if i == src.Layouts {
			break
		}
		program, err := b.link(i + 1)
		if err != nil {
			return err
		}
		s.Programs = append(s.Programs, program)
	}
	if src.Symbols {
		s.Symbols, err = b.run("symbols", "")
	}
	return err
}

// ErrSource says that a side cannot be built.
var ErrSource = errors.New("cannot build the two sides")

func short(commit string) string { return commit[:min(len(commit), 10)] }

// worktree checks the commit out into the folder.
func (f *Folder) worktree(g git, name, commit string) (string, error) {
	dir := filepath.Join(f.dir, name)
	if _, err := g.run("worktree", "add", "--detach", "--quiet", dir, commit); err != nil {
		return "", err
	}
	return dir, nil
}

// git runs git in the working directory.
type git struct{ ctx context.Context }

func (g git) run(args ...string) (string, error) {
	cmd := exec.CommandContext(g.ctx, "git", args...)
	isolate(cmd)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		if g.ctx.Err() != nil {
			return "", g.ctx.Err()
		}
		return "", fmt.Errorf("%w: git %s: %s", ErrSource, args[0], firstLine(stderr.String(), err))
	}
	return strings.TrimSpace(out.String()), nil
}

// commit returns the commit that a revision names.
func (g git) commit(revision string) (string, error) {
	c, err := g.run("rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil && g.ctx.Err() == nil {
		return "", fmt.Errorf("%w: %q is no revision of this repository; a branch that was not fetched needs its remote, such as origin/%s", ErrSource, revision, revision)
	}
	return c, err
}

func firstLine(text string, err error) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return err.Error()
}

// A build makes the programs of one side.
type build struct {
	ctx    context.Context
	folder string // where programs go
	dir    string // of the module, or of a package in it
	from   string // the same in the user's repository
	name   string
	pkg    string
	args   []string // that all links need; nil before the first
}

// link builds the program in one layout of its functions; only the first time is
// anything compiled. Each function begins a cache line: where loops begin at half a
// line in one layout and at a whole one in the next, the same loop differs by up to
// 5%, and a few layouts do not average that out.
func (b *build) link(layout int) (string, error) {
	return b.run(strconv.Itoa(layout), fmt.Sprintf("-s -w -funcalign=64 -randlayout=%d", layout))
}

// run builds the program with flags for the linker.
func (b *build) run(name, flags string) (string, error) {
	if b.args == nil {
		args, err := b.modules()
		if err != nil {
			return "", err
		}
		b.args = append([]string{"build", "-buildvcs=false"}, args...)
	}
	program := filepath.Join(b.folder, b.name+"-"+name)
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	args := append(b.args[:len(b.args):len(b.args)], "-ldflags="+flags, "-o", program, b.pkg)
	cmd := exec.CommandContext(b.ctx, "go", args...)
	isolate(cmd)
	cmd.Dir = b.dir
	// What go leaves behind when it is killed goes with the folder.
	cmd.Env = append(os.Environ(), "GOTMPDIR="+b.folder, "PWD="+b.dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		if b.ctx.Err() != nil {
			return "", b.ctx.Err()
		}
		return "", fmt.Errorf("%w: %s does not build: %s", ErrSource, b.name, firstLine(stderr.String(), err))
	}
	return program, nil
}

// modules returns the flags that let a module be built in another place than its
// own. Replacements by folders outside of the repository, which a relative path
// names, would not be found from there: a copy of go.mod names them in full. With
// a vendor folder nothing has to be found.
func (b *build) modules() ([]string, error) {
	dir := b.dir
	path := filepath.Join(dir, "go.mod")
	src, err := os.ReadFile(path)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
		path = filepath.Join(dir, "go.mod")
		src, err = os.ReadFile(path)
	}
	if err != nil || b.dir == b.from {
		return nil, nil // go build says what is wrong, or nothing is
	}
	if _, err := os.Stat(filepath.Join(dir, "vendor", "modules.txt")); err == nil {
		return nil, nil
	}
	up, err := filepath.Rel(b.dir, dir)
	if err != nil {
		return nil, err
	}
	mod, err := modfile.Parse(path, src, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrSource, b.name, err)
	}
	changed := false
	for _, r := range mod.Replace {
		outside := strings.HasPrefix(r.New.Path, "..") && !filepath.IsAbs(r.New.Path)
		if !outside {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, r.New.Path)); err == nil {
			continue // within the repository, so that it was checked out as well
		}
		full := filepath.Join(b.from, up, r.New.Path)
		if err := mod.AddReplace(r.Old.Path, r.Old.Version, full, ""); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrSource, b.name, err)
		}
		changed = true
	}
	if !changed {
		return nil, nil
	}
	text, err := mod.Format()
	if err != nil {
		return nil, err
	}
	copied := filepath.Join(b.folder, b.name+".mod")
	if err := os.WriteFile(copied, text, 0o666); err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err == nil {
		err = os.WriteFile(filepath.Join(b.folder, b.name+".sum"), sums, 0o666)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return []string{"-modfile=" + copied}, nil
}
