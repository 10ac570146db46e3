package sizing

import (
	"fmt"
	"math/rand/v2"
)

// Names returns n distinct names as people give them to nodes, all of one kind,
// which is drawn along with the rest: addresses with a port, pods of a set, host
// names with a region, URLs. They differ in their last characters, as real ones
// do, since that is what weak hashes stumble over.
func Names(n int, r *rand.Rand) []string {
	name := kinds[r.IntN(len(kinds))](r)
	names := make([]string, n)
	for i := range names {
		names[i] = name(i)
	}
	return names
}

// kinds make the i-th name of a cluster.
var kinds = []func(r *rand.Rand) func(i int) string{
	func(r *rand.Rand) func(int) string { // 10.3.17.41:11211
		net, first, port := r.IntN(256), r.IntN(1<<16), ports[r.IntN(len(ports))]
		return func(i int) string {
			host := first + i
			return fmt.Sprintf("10.%d.%d.%d:%d", (net+host>>16)%256, host>>8&255, host&255, port)
		}
	},
	func(r *rand.Rand) func(int) string { // redis-7f3a-12
		set := fmt.Sprintf("%s-%04x", roles[r.IntN(len(roles))], r.IntN(1<<16))
		return func(i int) string { return fmt.Sprintf("%s-%d", set, i) }
	},
	func(r *rand.Rand) func(int) string { // cache-0.cache.prod-81.svc.cluster.local
		role, space := roles[r.IntN(len(roles))], r.IntN(1000)
		return func(i int) string {
			return fmt.Sprintf("%s-%d.%s.prod-%d.svc.cluster.local", role, i, role, space)
		}
	},
	func(r *rand.Rand) func(int) string { // web017.eu-west-3b.example.com
		role, zone, first := roles[r.IntN(len(roles))], zones[r.IntN(len(zones))], r.IntN(1000)
		return func(i int) string {
			return fmt.Sprintf("%s%03d.%s%c.example.com", role, first+i, zone, 'a'+rune(i%3))
		}
	},
	func(r *rand.Rand) func(int) string { // http://172.20.4.9:9001
		subnet, first, port := r.IntN(256), 1+r.IntN(200), 9000+r.IntN(100)
		return func(i int) string {
			host := first + i
			return fmt.Sprintf("http://172.%d.%d.%d:%d", 16+host>>16, (subnet+host>>8)%256, host&255, port)
		}
	},
	func(r *rand.Rand) func(int) string { // api-6d9c7b5f8a-00c1f
		set, salt := fmt.Sprintf("%s-%010x", roles[r.IntN(len(roles))], r.Int64N(1<<40)), r.IntN(1<<16)
		return func(i int) string { return fmt.Sprintf("%s-%05x", set, i*65537+salt) }
	},
}

var (
	ports = []int{6379, 8080, 9042, 9092, 11211}
	roles = []string{"api", "cache", "db", "node", "redis", "server", "shard", "store", "web", "worker"}
	zones = []string{"ap-south-1", "eu-central-1", "eu-west-3", "us-east-2", "us-west-2"}
)
