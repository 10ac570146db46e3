package regress

import (
	"fmt"
	"sync"
)

// run measures the cells in so many rounds.
func (s *session) run(stage string, cells []*timedCell, rounds int) error {
	for i := range rounds {
		s.step(stage, i, rounds)
		if err := s.round(cells); err != nil {
			return err
		}
	}
	s.step(stage, rounds, rounds)
	return nil
}

// round runs one round: a fresh process of each side, in a layout drawn anew,
// takes turns with the other. What comes first is drawn each time: which process
// starts, which cell runs, who begins with it. A fixed order favours one side by a
// percent or two. Both stay on one core, drawn as well: a core that has to wake up
// for every other slice is slower by percents than one that does not.
func (s *session) round(cells []*timedCell) error {
	open := s.request("open")
	if all := cores(); len(all) > 0 {
		open.Core = &all[s.order.IntN(len(all))]
	}
	for _, c := range cells {
		open.Cells = append(open.Cells, opening{c.name, c.ops})
	}
	var ws [2]*worker
	for _, side := range s.drawn() {
		programs := s.sides[side].Programs
		w, err := s.start(side, programs[s.order.IntN(len(programs))])
		if err != nil {
			return err
		}
		defer w.stop()
		ws[side] = w
	}
	var errs [2]error
	var wg sync.WaitGroup
	for side, w := range ws {
		wg.Go(func() { _, errs[side] = w.ask(open) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	for _, i := range s.order.Perm(len(cells)) {
		if err := s.turns(ws, cells[i], slicesOf(len(cells))); err != nil {
			return err
		}
	}
	return nil
}

// drawn returns the sides in an order drawn by lot.
func (s *session) drawn() [2]int {
	first := s.order.IntN(2)
	return [2]int{first, 1 - first}
}

// keptCore is the part of a slice that its thread has to run for it to be calm.
const keptCore = 0.97

// turns lets the two workers take turns at one cell, strictly: a side that follows
// itself finds its own data in the caches, which takes up to half of the time off.
func (s *session) turns(ws [2]*worker, c *timedCell, slices int) error {
	order := s.drawn()
	var taken [2][]slice // by place in the order
	for i := -1; i < slices; i++ {
		at := i
		if i < 0 {
			at = mostSlices // the warm-up, over keys that are not those to come
		}
		for place, side := range order {
			r := request{Do: "slice", Cell: c.name, Slice: at}
			if side == head {
				r.Extra = c.extra(c.ops)
			}
			told, err := ws[side].ask(r)
			if err != nil {
				return err
			}
			if told.WallNs <= 0 {
				return fmt.Errorf("%w: %s timed a slice of %s at %d ns", ErrWorker, s.sides[side].Name, c.name, told.WallNs)
			}
			c.answered(side, at, told.Sum)
			if i >= 0 {
				calm := told.CPUNs <= 0 || float64(told.CPUNs) > keptCore*float64(told.WallNs)
				taken[place] = append(taken[place], slice{float64(told.WallNs) / float64(c.ops), calm})
			}
		}
	}
	x := change(taken[0], taken[1])
	if s.observe != nil {
		s.observe(x)
	}
	if order[0] == base {
		c.add(taken[0], x)
	} else {
		c.add(taken[1], -x)
	}
	return nil
}

// extra returns the lookups that are put into a slice of head beside its own ops.
func (c *timedCell) extra(ops int) int { return int(float64(ops)*c.slower/100 + 0.5) }

// answered notes what a side answered in a slice.
func (c *timedCell) answered(side, slice int, sum uint64) {
	switch before, seen := c.sums[side][slice]; {
	case !seen:
		c.sums[side][slice] = sum
	case before != sum:
		c.fickle[side] = true
	}
}
