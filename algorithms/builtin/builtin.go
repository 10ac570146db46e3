// Package builtin lists the algorithms that come with ringbench. The list is
// explicit: nothing registers itself, and a program that measures an algorithm
// of its own appends its Info to the list.
package builtin

import (
	"github.com/ringbench/ringbench/algorithms"
	"github.com/ringbench/ringbench/algorithms/anchor"
	"github.com/ringbench/ringbench/algorithms/binomial"
	"github.com/ringbench/ringbench/algorithms/boundedrandomjump"
	"github.com/ringbench/ringbench/algorithms/boundedring"
	"github.com/ringbench/ringbench/algorithms/compat/envoymaglev"
	"github.com/ringbench/ringbench/algorithms/compat/envoyring"
	"github.com/ringbench/ringbench/algorithms/compat/groupcache"
	"github.com/ringbench/ringbench/algorithms/compat/grpcring"
	"github.com/ringbench/ringbench/algorithms/compat/guavajump"
	"github.com/ringbench/ringbench/algorithms/compat/haproxy"
	"github.com/ringbench/ringbench/algorithms/compat/ketama"
	"github.com/ringbench/ringbench/algorithms/compat/libmemcached"
	"github.com/ringbench/ringbench/algorithms/compat/nginx"
	"github.com/ringbench/ringbench/algorithms/compat/partitions"
	"github.com/ringbench/ringbench/algorithms/compat/slots"
	"github.com/ringbench/ringbench/algorithms/compat/spymemcached"
	"github.com/ringbench/ringbench/algorithms/compat/tokenring"
	"github.com/ringbench/ringbench/algorithms/compat/twemproxy"
	"github.com/ringbench/ringbench/algorithms/compat/uhashring"
	"github.com/ringbench/ringbench/algorithms/control"
	"github.com/ringbench/ringbench/algorithms/dx"
	"github.com/ringbench/ringbench/algorithms/flip"
	"github.com/ringbench/ringbench/algorithms/jump"
	"github.com/ringbench/ringbench/algorithms/jumpback"
	"github.com/ringbench/ringbench/algorithms/lrh"
	"github.com/ringbench/ringbench/algorithms/maglev"
	"github.com/ringbench/ringbench/algorithms/memento"
	"github.com/ringbench/ringbench/algorithms/modulo"
	"github.com/ringbench/ringbench/algorithms/multiprobe"
	"github.com/ringbench/ringbench/algorithms/power"
	"github.com/ringbench/ringbench/algorithms/rendezvous"
	"github.com/ringbench/ringbench/algorithms/ring"
	"github.com/ringbench/ringbench/algorithms/ringarray"
	"github.com/ringbench/ringbench/algorithms/ringbinarysearch"
	"github.com/ringbench/ringbench/algorithms/skeletonrendezvous"
	"github.com/ringbench/ringbench/algorithms/weightedrendezvous"
)

// All returns the algorithms in the order in which they are shown: the families
// with their variants, then the baseline and the controls.
func All() []algorithms.Info {
	return []algorithms.Info{
		ring.Info,
		ringbinarysearch.Info,
		ringarray.Info,
		boundedring.Info,
		boundedrandomjump.Info,
		jump.Info,
		jump.ReferenceInfo,
		jump.ShiftInfo,
		power.Info,
		jumpback.Info,
		flip.Info,
		binomial.Info,
		multiprobe.Info,
		lrh.Info,
		anchor.Info,
		dx.Info,
		memento.Info,
		rendezvous.Info,
		skeletonrendezvous.Info,
		weightedrendezvous.Info,
		maglev.Info,
		ketama.Info,
		libmemcached.Info,
		libmemcached.SpyInfo,
		spymemcached.Info,
		twemproxy.Info,
		envoyring.Info,
		grpcring.Info,
		envoymaglev.Info,
		guavajump.Info,
		slots.Info,
		partitions.Info,
		nginx.Info,
		haproxy.Info,
		groupcache.Info,
		uhashring.Info,
		tokenring.Info,
		modulo.Info,
		control.Info,
		control.OneReadInfo,
	}
}
