// A program that speaks the protocol of a worker and takes as long as it is told.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// The time of a slice, in ns; after so many processes it is another program's.
const (
	wall  = 1000000
	until = 1000
)

// starts counts the processes that have begun.
func starts() int {
	f, err := os.OpenFile(os.Getenv("STARTS"), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return 0
	}
	defer f.Close()
	f.Write([]byte("."))
	info, _ := f.Stat()
	return int(info.Size())
}

// note writes a number to a file that is never seen half written.
func note(path string, n int) {
	half := fmt.Sprintf("%s.%d", path, os.Getpid())
	os.WriteFile(half, []byte(fmt.Sprintln(n)), 0o666)
	os.Rename(half, path)
}

func main() {
	ns := wall
	if until < 1000 && starts() > until {
		ns = 1000000
	}
	if pause := os.Getenv("PAUSE"); pause != "" {
		note(os.Getenv("PIDFILE")+".parent", os.Getppid())
		note(os.Getenv("PIDFILE"), os.Getpid())
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
			fmt.Printf("{\"wall_ns\":%d,\"sum\":\"1\"}\n", ns)
		}
	}
}
