package workloads

import (
	"fmt"
	"iter"
	"math/rand/v2"
)

// An Event is the arrival of a request or its end.
type Event struct {
	// Request names the request among those that are outstanding. The number of
	// a request that ended is used again, so numbers stay below the most that
	// were ever outstanding at once.
	Request int

	Rank    int  // rank of the key it asks for
	Release bool // whether the request ends here; otherwise it arrives
}

// Arrivals yields count requests, of which none ends: the Requests are numbered
// from 0, and the ranks are drawn from the popularity.
func Arrivals(p *Popularity, count int, r *rand.Rand) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for i := range count {
			if !yield(Event{Request: i, Rank: p.Sample(r)}) {
				return
			}
		}
	}
}

// Requests yields count arrivals and, among them, the ends of those requests that
// end before the last arrival. One request arrives per unit of time and holds for
// a whole number of units, at least one, that follows a geometric distribution
// with the given mean: so each outstanding request is equally likely to be the
// next to end, whatever its age. By Little's law the number outstanding just after
// an arrival is the mean on average, once the first few times mean requests have
// filled the cluster. Requests that end at the same time do so in order of
// arrival, and before the arrival of that time.
//
// The mean must be from 1 to MaxKeys; another one panics. The memory is that of
// the outstanding requests, the time per event logarithmic in their number.
func Requests(p *Popularity, count int, mean float64, r *rand.Rand) iter.Seq[Event] {
	if !(mean >= 1 && mean <= MaxKeys) {
		panic(fmt.Sprintf("workloads: mean of %v outstanding requests", mean))
	}
	return func(yield func(Event) bool) {
		var held endings
		var free []int
		numbers := 0
		for now := range count {
			for len(held) > 0 && held[0].time == int64(now) {
				ended := held.pop()
				free = append(free, ended.event.Request)
				if !yield(ended.event) {
					return
				}
			}
			arrival := Event{Rank: p.Sample(r)}
			if last := len(free) - 1; last >= 0 {
				arrival.Request, free = free[last], free[:last]
			} else {
				arrival.Request = numbers
				numbers++
			}
			if !yield(arrival) {
				return
			}
			end := arrival
			end.Release = true
			held.push(ending{int64(now) + holding(mean, r), int64(now), end})
		}
	}
}

// holding draws from the geometric distribution on 1, 2, ... with the mean.
func holding(mean float64, r *rand.Rand) int64 {
	u := float64(r.Uint64()>>11+1) * 0x1p-53 // above 0, at most 1
	if mean == 1 {
		return 1
	}
	return 1 + int64(ln(u)/ln(1-1/mean))
}

// An ending is the event that ends a request, with the times of both its ends.
type ending struct {
	time    int64
	arrival int64
	event   Event
}

func (e ending) before(f ending) bool {
	return e.time < f.time || e.time == f.time && e.arrival < f.arrival
}

// endings is a binary heap with the earliest at the front.
type endings []ending

func (h *endings) push(e ending) {
	q := append(*h, e)
	i := len(q) - 1
	for i > 0 && e.before(q[(i-1)/2]) {
		q[i] = q[(i-1)/2]
		i = (i - 1) / 2
	}
	q[i] = e
	*h = q
}

func (h *endings) pop() ending {
	q := *h
	first, last := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	i := 0
	for child := 1; child < len(q); child = 2*i + 1 {
		if child+1 < len(q) && q[child+1].before(q[child]) {
			child++
		}
		if !q[child].before(last) {
			break
		}
		q[i] = q[child]
		i = child
	}
	if len(q) > 0 {
		q[i] = last
	}
	*h = q
	return first
}
