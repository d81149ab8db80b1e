package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"text/tabwriter"
	"time"
)

// contender does the work of a group.
type contender interface {
	name() string
	// share tells which part of the records it gets, as one in so many: slow ones get fewer, and rates are compared.
	share() int
	// run does the work on n records and returns what it counted, by which it is seen to have done it.
	run(ctx context.Context, n int) (outcome, error)
}

// outcome is what a contender reports of one round.
type outcome struct {
	count int64
	peak  int64         // bytes resident at most; 0: not measured
	took  time.Duration // 0: the time of the call
	cpu   time.Duration // 0: what this process used during the call
}

// entry is a contender made of a function.
type entry struct {
	label string
	part  int // as share; 0 means all
	work  func(ctx context.Context, n int) (int64, error)
}

func (e entry) name() string { return e.label }
func (e entry) share() int   { return max(e.part, 1) }
func (e entry) run(ctx context.Context, n int) (outcome, error) {
	count, err := e.work(ctx, n)
	return outcome{count: count}, err
}

// result is what a contender's rounds came to.
type result struct {
	name    string
	rates   []float64 // units a second, one a round
	ratios  []float64 // rate over that of the first contender in the same round
	costs   []float64 // seconds of processor time a unit
	burdens []float64 // cost over that of the first contender in the same round
	peak    int64
}

// errDiffers is returned when contenders do not agree on what the work amounts to.
var errDiffers = errors.New("the outcome differs")

// compete runs the contenders in turn, round by round, so that what disturbs the machine disturbs all of them. The first round is
// not counted.
func compete(ctx context.Context, g group, rounds int) ([]result, error) {
	results := make([]result, len(g.contenders))
	for round := range rounds + 1 {
		for i, c := range g.contenders {
			rate, cost, peak, err := measure(ctx, g, c)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name(), err)
			}
			if round == 0 {
				results[i] = result{name: c.name()}
				continue
			}
			r := &results[i]
			r.rates = append(r.rates, rate)
			r.ratios = append(r.ratios, rate/results[0].rates[round-1])
			r.costs = append(r.costs, cost)
			r.burdens = append(r.burdens, cost/results[0].costs[round-1])
			r.peak = max(r.peak, peak)
		}
	}
	return results, nil
}

// measure runs one contender once and returns units a second, seconds of processor time a unit, and the peak of its memory.
func measure(ctx context.Context, g group, c contender) (rate, cost float64, peak int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, 0, 0, err
	}
	n := g.n / c.share()
	runtime.GC()
	used, start := cpuTime(), time.Now()
	out, err := c.run(ctx, n)
	took := time.Since(start)
	used = cpuTime() - used
	if err != nil {
		return 0, 0, 0, err
	}
	if want := g.want(n); out.count != want {
		return 0, 0, 0, fmt.Errorf("%w: %d, want %d", errDiffers, out.count, want)
	}
	if out.took > 0 {
		took, used = out.took, out.cpu
	}
	return float64(n) / took.Seconds(), used.Seconds() / float64(n), out.peak, nil
}

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func printTable(w io.Writer, g group, results []result) {
	fmt.Fprintf(w, "\n%s; %d rounds, n = %d\n\n", g.title, len(results[0].rates), g.n)
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintf(t, "| contender\t| %s\t| ratio\t| lowest – highest\t| CPU\t| peak MiB\t|\n| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t|\n", g.unit)
	for _, r := range results {
		peak := ""
		if r.peak > 0 {
			peak = strconv.FormatInt(r.peak>>20, 10)
		}
		fmt.Fprintf(t, "| %s\t| %s\t| %s\t| %s – %s\t| %s\t| %s\t|\n", r.name, figure(median(r.rates)),
			figure(median(r.ratios)), figure(slices.Min(r.ratios)), figure(slices.Max(r.ratios)), figure(median(r.burdens)), peak)
	}
	t.Flush()
}

// figure prints two or three digits of a number, with k or M.
func figure(f float64) string {
	switch {
	case f >= 1e6:
		return fmt.Sprintf("%.3g M", f/1e6)
	case f >= 1e4:
		return fmt.Sprintf("%.3g k", f/1e3)
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 1:
		return fmt.Sprintf("%.3g", f)
	}
	return fmt.Sprintf("%.2g", f)
}

func median(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	if len(s)%2 == 1 {
		return s[len(s)/2]
	}
	return (s[len(s)/2-1] + s[len(s)/2]) / 2
}
