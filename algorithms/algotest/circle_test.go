package algotest

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/ringbench/ringbench/algorithms"
)

// circle is a ring as many libraries write it: a map from the positions to the
// owners, and the positions sorted. It is correct as long as no two points fall on
// one position; its draft is what the fakes spoil.
type circle struct {
	draft
	members *algorithms.Members
	owners  map[uint64]bucket
	points  []point
}

type point struct {
	position uint64
	owner    bucket
}

type draft struct {
	label  func(name string, i int) string
	hash   func(label string) uint64
	count  func(w float64, members *algorithms.Members) int // points of a node
	anew   bool                                             // whether the count depends on the other nodes
	listed bool                                             // whether all points are kept, in the order of a map
}

const pointsOfOne = 60

func sound() draft {
	return draft{
		label: func(name string, i int) string { return fmt.Sprintf("%s#%d", name, i) },
		hash:  xxh3.HashString,
		count: func(w float64, _ *algorithms.Members) int { return int(math.Round(pointsOfOne * w)) },
	}
}

type scattered struct{}

func (scattered) PointCounts(nodes []algorithms.Node) []int {
	counts := make([]int, len(nodes))
	for i, n := range nodes {
		counts[i] = sound().count(n.Weight, nil)
	}
	return counts
}

func (scattered) Shares([]algorithms.Node) ([]float64, error) {
	return nil, algorithms.Unsupported("nobody asks")
}

// drawn makes the Info of a circle by a draft of which something is spoilt.
func drawn(spoil func(*draft)) algorithms.Info {
	return algorithms.Define("circle", "", scattered{}, func(nodes []algorithms.Node, _ scattered) (*circle, error) {
		members, err := algorithms.NewMembers(nodes)
		if err != nil {
			return nil, err
		}
		c := &circle{draft: sound(), members: members}
		spoil(&c.draft)
		c.lay()
		return c, nil
	})
}

// positions returns those of a node's points.
func (c *circle) positions(n algorithms.Node) []uint64 {
	all := make([]uint64, c.count(n.Weight, c.members))
	for i := range all {
		all[i] = c.hash(c.label(n.Name, i))
	}
	return all
}

// lay makes the circle anew from the members.
func (c *circle) lay() {
	c.owners, c.points = map[uint64]bucket{}, nil
	all := c.members.All()
	if c.listed {
		all = maps.All(maps.Collect(all))
	}
	for b, n := range all {
		c.put(b, n)
	}
	c.sort()
}

func (c *circle) put(b bucket, n algorithms.Node) {
	for _, p := range c.positions(n) {
		c.owners[p] = b
		c.points = append(c.points, point{p, b})
	}
}

// sort makes the list of the map, unless all points are kept.
func (c *circle) sort() {
	if !c.listed {
		c.points = c.points[:0]
		for p, b := range c.owners {
			c.points = append(c.points, point{p, b})
		}
	}
	slices.SortFunc(c.points, func(a, b point) int { return cmp.Compare(a.position, b.position) })
}

func (c *circle) Lookup(h uint64) bucket {
	if len(c.points) == 0 {
		return algorithms.None
	}
	i, _ := slices.BinarySearchFunc(c.points, h, func(p point, h uint64) int { return cmp.Compare(p.position, h) })
	return c.points[i%len(c.points)].owner
}

func (c *circle) Len() int { return c.members.Len() }

func (c *circle) Add(n algorithms.Node) (bucket, error) {
	b, err := c.members.Add(n)
	if err != nil {
		return b, err
	}
	if c.anew {
		c.lay()
		return b, nil
	}
	c.put(b, n)
	c.sort()
	return b, nil
}

func (c *circle) Remove(b bucket) error {
	n, err := c.members.Remove(b)
	if err != nil {
		return err
	}
	if c.anew {
		c.lay()
		return nil
	}
	for _, p := range c.positions(n) {
		delete(c.owners, p)
	}
	c.sort()
	return nil
}

// Only by what was spoilt may the fakes fail.
func TestASoundCirclePassesTheChecksThatCatchSpoiltOnes(t *testing.T) {
	info := drawn(func(*draft) {}).Declining(algorithms.Balance)
	for _, r := range Run(info) {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Name, r.Err)
		}
	}
}

// crowded has 4,096 positions, so that points fall on each other.
func crowded(d *draft) {
	d.hash = func(label string) uint64 { return xxh3.HashString(label) &^ (1<<52 - 1) }
}

// unordered keeps all points of a position, and which is first is chance.
func unordered(d *draft) {
	crowded(d)
	d.listed = true
}

// indexed writes the index straight behind the name, so that the point 10 of node1
// is the point 0 of node11.
func indexed(d *draft) { d.label = func(name string, i int) string { return name + strconv.Itoa(i) } }

// linear hashes with a checksum, by which similar labels keep their distance.
func linear(d *draft) {
	d.label = func(name string, i int) string { return fmt.Sprintf("%s-%d", name, i) }
	d.hash = func(label string) uint64 { return uint64(crc32.ChecksumIEEE([]byte(label))) << 32 }
}

// relative takes a weight for a part of the mean.
func relative(d *draft) {
	d.anew = true
	d.count = func(w float64, m *algorithms.Members) int {
		return int(pointsOfOne * w * float64(m.Len()) / m.TotalWeight())
	}
}

// single counts in float32, by which each of 61 equal nodes falls short of its points.
func single(d *draft) {
	d.anew = true
	d.count = func(w float64, m *algorithms.Members) int {
		part := float32(w) / float32(m.TotalWeight())
		return int(float32(part*float32(m.Len())) * pointsOfOne)
	}
}
