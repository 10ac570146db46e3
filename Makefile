.DEFAULT_GOAL := help
SHELL := bash
export CGO_ENABLED ?= 0
RINGBENCH = go build -o out/ ./cmd/ringbench && out/ringbench

help:        ## this list
	@sed -n 's/^\([a-z-]*\): *[^#]*## /  make \1\t/p' Makefile | expand -t 20

bench:       ## measure the five families in two minutes, into out/latest
	$(RINGBENCH) run quick

bench-full:  ## measure all suites; takes long
	$(RINGBENCH) run full

test:        ## run all tests
	go test ./...

check:       ## format, vet, staticcheck, tidy, tests with the race detector
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	go vet ./...
	go tool staticcheck ./...
	go mod tidy -diff
	CGO_ENABLED=1 go test -short -race -shuffle=on ./...

figures:     ## draw the gallery again, from the reference run
	$(RINGBENCH) plot results/reference -o plots/gallery

clean:       ## remove what runs and tests wrote
	rm -rf out
	go clean -testcache

.PHONY: help bench bench-full test check figures clean
