// Command bench compares Runnel with its peers: the same work, in one process, turn by turn.
//
//	go run . -run core,meta,async,decode,wide,encode,file
//
// What each group does, and figures, are in README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// settings are the command's flags.
type settings struct {
	groups []string
	only   string
	n      int
	rounds int
	source string
	cache  string
	python string
	mebi   int
	size   int
	rust   string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		exit(runChild(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, parseFlags()))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func parseFlags() settings {
	var s settings
	groups := flag.String("run", "core", "groups to run, separated by commas: core, meta, async, decode, wide, encode, file, iggysend, iggypoll, iggydirect, iggybackground, iggysingle, iggygroup")
	flag.StringVar(&s.only, "only", "", "run only contenders whose name contains one of these words, separated by commas; the first of a group always runs")
	flag.IntVar(&s.n, "n", 0, "records a round; 0 means the group's own number")
	flag.IntVar(&s.rounds, "rounds", 5, "rounds after one to warm up; the table shows medians")
	flag.StringVar(&s.source, "source", "../../shared/data/flights-100k.ndjson.gz", "flights as gzipped NDJSON, for decode, encode and file; lines of the same shape are made where it is absent")
	flag.StringVar(&s.cache, "cache", "", "folder for the large input and the outputs; empty means runnel-bench in the user's cache folder")
	flag.StringVar(&s.python, "python", "python3", "Python with polars and duckdb, for file; those that it lacks are left out")
	flag.IntVar(&s.mebi, "mib", 1024, "size of the input of file, in MiB")
	flag.IntVar(&s.size, "size", 100, "bytes of a message, for those that begin with iggy")
	flag.StringVar(&s.rust, "rust", "", "program iggy-interop with the Rust SDK of Iggy, for those that begin with iggy; see internal/integration/iggy-rust")
	flag.Parse()
	s.groups = strings.Split(*groups, ",")
	return s
}

// group is a piece of work and those who do it; want is what they must count. The first contender is the one that the others are compared with.
type group struct {
	title      string
	n          int    // records unless -n says otherwise
	unit       string // of the rates
	want       func(n int) int64
	contenders []contender
	end        func() error // what is to be done behind the last round; nil for nothing
}

func run(ctx context.Context, s settings) error {
	known := map[string]func(settings) (group, error){
		"core": coreGroup, "meta": metaGroup, "async": asyncGroup, "decode": decodeGroup, "wide": wideGroup, "encode": encodeGroup, "file": fileGroup,
		"iggysend": iggyGroup(false), "iggypoll": iggyGroup(true),
		"iggydirect":     iggyConnectors("direct", "a producer that sends from its caller, 1000 in a call"),
		"iggybackground": iggyConnectors("background", "a producer that sends from a worker, 1000 in a call"),
		"iggysingle":     iggyConnectors("single", "a producer that sends from a worker, one in a call"),
		"iggygroup":      iggyConnectors("group", "a group of one member, four partitions"),
	}
	for _, name := range s.groups {
		build, ok := known[name]
		if !ok {
			return fmt.Errorf("no group %q", name)
		}
		g, err := build(s)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if s.n > 0 {
			g.n = s.n
		}
		g.contenders = chosen(g.contenders, s.only)
		results, err := compete(ctx, g, s.rounds)
		if g.end != nil {
			err = errors.Join(err, g.end())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		printTable(os.Stdout, g, results)
	}
	return nil
}

// chosen keeps the first contender and those whose name contains a word of only.
func chosen(all []contender, only string) []contender {
	if only == "" {
		return all
	}
	words := strings.Split(only, ",")
	return slices.DeleteFunc(slices.Clone(all), func(c contender) bool {
		return c.name() != all[0].name() && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(c.name(), w) })
	})
}
