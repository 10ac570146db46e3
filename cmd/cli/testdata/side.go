// A program that speaks the protocol of a worker and takes as long as it is told.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

const wall = 1000000

func main() {
	if pause := os.Getenv("PAUSE"); pause != "" {
		os.WriteFile(os.Getenv("PIDFILE")+".parent", []byte(fmt.Sprintln(os.Getppid())), 0o666)
		os.WriteFile(os.Getenv("PIDFILE"), []byte(fmt.Sprintln(os.Getpid())), 0o666)
	}
	requests := bufio.NewScanner(os.Stdin)
	requests.Buffer(nil, 1<<20)
	for requests.Scan() {
		var r struct{ Do string }
		json.Unmarshal(requests.Bytes(), &r)
		switch r.Do {
		case "describe":
			fmt.Println(`{"protocol":1,"cells":[{"name":"lookup/algorithm=fake/nodes=4","metric":"lookup-ns"}]}`)
		case "calibrate":
			fmt.Println(`{"operations":[1000]}`)
		case "open":
			fmt.Println(`{}`)
		case "slice":
			if os.Getenv("PAUSE") != "" {
				time.Sleep(50 * time.Millisecond)
			}
			fmt.Printf("{\"wall_ns\":%d,\"sum\":\"1\"}\n", wall)
		}
	}
}
