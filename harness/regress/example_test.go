package regress_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/harness/regress"
)

// Compare the working tree with where it left main.
func Example() {
	ctx := context.Background()
	spec, err := harness.Suite("gate")
	if err != nil {
		log.Fatal(err)
	}
	folder, err := regress.NewFolder()
	if err != nil {
		log.Fatal(err)
	}
	defer folder.Remove()
	base, head, err := folder.Build(ctx, regress.Source{Base: "main", Package: "./cmd/ringbench"}, nil)
	if err != nil {
		log.Print(err)
		return
	}
	comparison, err := regress.Compare(ctx, base, head, regress.Options{Spec: spec, Rounds: regress.DefaultRounds})
	if err != nil {
		log.Print(err)
		return
	}
	for _, c := range comparison.Rows {
		fmt.Println(c.Name, c.Metric, c.Verdict)
	}
}
