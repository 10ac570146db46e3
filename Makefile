.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -o pipefail -c
export CGO_ENABLED ?= 0
BASE ?= main
RINGBENCH = go build -o out/ ./cmd/ringbench && out/ringbench

help:        ## this list
	@sed -n 's/^\([a-z-]*\): *[^#]*## /  make \1\t/p' Makefile | expand -t 20

bench:       ## measure the five families in two minutes, into out/latest
	$(RINGBENCH) run quick

bench-full:  ## measure all suites; takes long
	$(RINGBENCH) run full

speed:       ## measure every lookup at its limit, in about five minutes
	$(RINGBENCH) run speed

peers:       ## public Go libraries beside ours: their faults, then one run
	go build -C algorithms/peers -o ../../out/peers/ ./cmd/...
	out/peers/faults | tee out/peers/faults.txt
	out/peers/ringbench run algorithms/peers/peers.toml

test:        ## run all tests
	go test -timeout 30m ./...

claims:      ## check all claims again and write harness/CLAIMS.md
	$(RINGBENCH) verify -q --markdown > out/CLAIMS.md && mv out/CLAIMS.md harness/CLAIMS.md

check:       ## format, vet, staticcheck, tidy, tests with the race detector
	@test -z "$$(gofmt -l . | tee -a /dev/stderr)"
	go vet ./...
	go tool staticcheck ./...
	go mod tidy -diff
	CGO_ENABLED=1 go test -short -race -shuffle=on -timeout 30m $$(go list ./... | grep -v /plots$$) # which draws on one core

baseline:    ## write the baseline of exact metrics anew; read it in the diff
	go test ./harness -run Baseline -update

compare:     ## is this tree slower than BASE, or does it place keys otherwise?
	$(RINGBENCH) compare --base $(BASE) $(COMPARE)

figures:     ## draw gallery and README again, from the reference run
	$(RINGBENCH) plot results/reference -o plots/gallery --format svg
	out/ringbench plot algorithms/peers/reference -o out/peers/figures --format svg
	cp out/peers/figures/key-lookup.svg plots/gallery/peers.svg
	go test ./cmd/cli -run Readme -update

clean:       ## remove what runs and tests wrote
	rm -rf out
	go clean -testcache

.PHONY: help bench bench-full speed peers test claims check baseline compare figures clean
