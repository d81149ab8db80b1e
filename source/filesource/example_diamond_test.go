package filesource_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/runnel-go/runnel/sink/filesink"
	"github.com/runnel-go/runnel/source/filesource"
)

type diamondFlight struct {
	Origin string
	Delay  int
}

// A diamond: a stream is split, one branch calls something slow, both are merged, and the result goes to three sinks.
// What cannot be parsed is a dead letter.
func Example_diamond() {
	dir, err := os.MkdirTemp("", "diamond")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := func(name string) string { return filepath.Join(dir, name) }
	input := `{"Origin":"LAS","Delay":33}
{"Origin":"ATL","Delay":3}
{"Origin":"ATL","Delay":
{"Origin":"MCI","Delay":70}
`
	if err := os.WriteFile(path("flights"), []byte(input), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	p := runnel.New("diamond")
	rejects := filesink.NDJSON[runnel.Failed](path("rejects"))
	parse := func(s string) (f diamondFlight, err error) { return f, json.Unmarshal([]byte(s), &f) }
	flights := flow.TryMap(runnel.From(p, filesource.Lines(path("flights"))), parse, runnel.DeadLetter(rejects), runnel.Name("parse"))
	late, early := flow.Split(flights, func(f diamondFlight) bool { return f.Delay > 15 })
	slow := flow.MapAsync(late, func(_ context.Context, f diamondFlight) (diamondFlight, error) { return f, nil },
		runnel.Parallel(8), runnel.Retry(3, time.Second), runnel.DeadLetter(rejects))
	all := flow.Merge(slow, early)
	all.To(filesink.NDJSON[diamondFlight](path("all")), runnel.Retry(5, time.Second), runnel.DeadLetter(rejects))
	flow.Batch(all, 100, time.Second).To(filesink.NDJSON[[]diamondFlight](path("batches")))
	origin := func(f diamondFlight) string { return f.Origin }
	flow.MapKeyed(flow.KeyBy(all, origin), func(_ context.Context, key string, _ diamondFlight) (string, error) { return key, nil },
		runnel.Parallel(8)).To(filesink.Lines(path("keys")))

	if err := p.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	for _, name := range []string{"all", "keys", "rejects"} {
		text, err := os.ReadFile(path(name))
		if err != nil {
			fmt.Println(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		slices.Sort(lines)
		fmt.Println(name, len(lines))
	}
	// Output:
	// all 3
	// keys 3
	// rejects 1
}
