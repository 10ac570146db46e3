// The command ringbench with the public libraries among its algorithms. See the
// command of the module above for what it does.
package main

import (
	"github.com/ringbench/ringbench/algorithms/builtin"
	"github.com/ringbench/ringbench/algorithms/peers"
	"github.com/ringbench/ringbench/cmd/cli"
)

func main() { cli.Main(append(builtin.All(), peers.All()...)...) }
