// Package audit answers one question: is an assignment of keys to nodes, as some
// system made it, sound? It knows nothing of the system but a CSV of keys and
// nodes, and tells how even the keys, the requests and the bytes lie, how much of
// the spread chance explains, and what else may be behind it. Given two such
// files, from before and after a change of the membership, it also tells which
// keys moved and whether they had to.
//
// It stands beside the runs of the harness. All figures are sums over the rows,
// exact but for rounding; only the shape of a spread is judged by drawing random
// placements, from a fixed seed. Rows are streamed. Distinct keys are held while
// they fit into a fixed amount of memory, and parted into temporary files when
// they do not.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/workloads"
)

// A Question is what is to be judged.
type Question struct {
	Before string            // file of an earlier assignment, "" for none
	File   string            // file of the assignment that is judged
	Stdin  io.Reader         // what the path "-" reads
	Nodes  []algorithms.Node // all nodes of both files with their weights; nil takes those that own a key, all alike
	budget int               // bytes of keys that are held for one file; 0 for the usual amount
}

// budgetOf is how many bytes of keys are held for one file.
const budgetOf = 72 << 20

// mostNodes is the most nodes that a file may name: beyond that a column that
// holds something else must be meant.
const mostNodes = 1 << 20

// mostAmount is the most that a column may add up to: requests are squared.
const mostAmount = 1e150

// Ask reads the files and judges them. It takes time in proportion to the rows, and
// memory of at most some hundreds of megabytes however many they are. When the
// context ends so does it, with the context's error, and leaves no file behind.
func Ask(ctx context.Context, q Question) (*Report, error) {
	if q.Before == "-" && q.File == "-" {
		return nil, errors.New("both assignments cannot come from stdin, put one of them into a file")
	}
	budget := q.budget
	if budget == 0 {
		budget = budgetOf
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	readings := []*reading{newReading(q.Before, budget), newReading(q.File, budget)}
	errs := make([]error, len(readings))
	var wait sync.WaitGroup
	for i, r := range readings {
		defer r.store.close()
		if r.path == "" {
			continue
		}
		wait.Go(func() {
			if errs[i] = r.read(ctx, q.Stdin); errs[i] != nil {
				cancel()
			}
		})
	}
	wait.Wait()
	if err := firstCause(errs); err != nil {
		return nil, err
	}
	return judge(ctx, q, readings[0], readings[1])
}

// firstCause returns the first error that is not merely the end of the others'
// work.
func firstCause(errs []error) error {
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(errs...)
}

// A reading is what one file told.
type reading struct {
	path  string
	sized bool // it tells bytes
	rows  int64
	names []string // of the nodes, in order of appearance
	where []int64  // line of the first row of each
	index map[string]int32
	held  []amounts // by node
	store *store    // the keys
}

// amounts are what a node has.
type amounts struct{ keys, requests, bytes float64 }

func newReading(path string, budget int) *reading {
	return &reading{path: path, index: map[string]int32{}, store: newStore(budget)}
}

// rowsBetweenLooks is how many rows are read before the context is asked.
const rowsBetweenLooks = 1 << 14

// read takes the whole file in.
func (r *reading) read(ctx context.Context, stdin io.Reader) error {
	file, err := workloads.OpenAssignment(r.path, stdin)
	if err != nil {
		return err
	}
	defer file.Close()
	r.sized = file.Sized
	var sum amounts
	for row, err := range file.Rows() {
		if err != nil {
			return err
		}
		if r.rows%rowsBetweenLooks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r.rows++
		node, known := r.index[string(row.Node)]
		if !known {
			if len(r.names) == mostNodes {
				return fmt.Errorf("%s:%d: more than %d nodes, is the column node the right one?", r.path, row.Line, mostNodes)
			}
			node = int32(len(r.names))
			name := string(row.Node)
			r.index[name] = node
			r.names = append(r.names, name)
			r.where = append(r.where, int64(row.Line))
			r.held = append(r.held, amounts{})
		}
		r.held[node].requests += row.Count
		r.held[node].bytes += row.Bytes
		sum.requests += row.Count
		sum.bytes += row.Bytes
		if sum.requests > mostAmount || sum.bytes > mostAmount {
			column := "count"
			if sum.bytes > mostAmount {
				column = "bytes"
			}
			return fmt.Errorf("%s:%d: the column %s adds up to more than %v here, divide all of it by the same", r.path, row.Line, column, mostAmount)
		}
		if err := r.store.add(row.Key, node, int64(row.Line), row.Count, row.Bytes); err != nil {
			return err
		}
	}
	return nil
}
