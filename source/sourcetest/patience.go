package sourcetest

import (
	"context"
	"errors"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/runneltest"
)

const (
	// mostEmpty is how many fetches without a record may come in a row.
	mostEmpty = 10_000
	// mostShown is how many faults of a kind are shown of one reading.
	mostShown = 3
)

// mostRecords is how many records may come where there are n: enough to see what is repeated.
func mostRecords(n int) int { return 2*n + 100 }

// read calls Read, and ends the suite if that does not return.
func (rd *reading[T]) read() (runnel.Fetch[T], error) {
	rd.t.Helper()
	type result struct {
		fetch runnel.Fetch[T]
		err   error
	}
	returned := make(chan result, 1)
	go func() {
		f, err := rd.r.Read(rd.ctx)
		returned <- result{f, err}
	}()
	late := time.NewTimer(rd.s.patience)
	defer late.Stop()
	select {
	case r := <-returned:
		return r.fetch, r.err
	case <-late.C:
	}
	rd.cancel()
	if len(rd.places) < rd.want || rd.s.f.Endless {
		rd.giveUpf("Read waited %v, and %d of %d records have come", rd.s.patience, len(rd.places), rd.want)
	}
	rd.giveUpf("Read waited %v behind the last record: return io.EOF, or set Features.Endless", rd.s.patience)
	return runnel.Fetch[T]{}, nil
}

// limit ends the suite if Read returns for ever what nobody waits for. n is how many records it returned last.
func (rd *reading[T]) limit(n int) {
	rd.t.Helper()
	if rd.empty++; n > 0 {
		rd.empty = 0
	}
	if rd.empty >= mostEmpty {
		rd.giveUpf("Read returned %d times in a row without a record: it waits for one, or returns io.EOF", rd.empty)
	}
	if came := len(rd.places); came > mostRecords(rd.want) {
		last := rd.places[came-1]
		rd.giveUpf("%d records came, want %d: Read returns more than there is; the last is %s of partition %q",
			came, rd.want, last.value, last.partition)
	}
}

// giveUpf fails the test, and has the suite run no further case.
func (rd *reading[T]) giveUpf(format string, args ...any) {
	rd.t.Helper()
	rd.s.over = true
	rd.t.Fatalf(format, args...)
}

// faultf fails the test and goes on. It shows the first faults of a kind, which has one format.
func (rd *reading[T]) faultf(format string, args ...any) {
	rd.t.Helper()
	rd.faults[format]++
	switch n := rd.faults[format]; {
	case n <= mostShown:
		rd.t.Errorf(format, args...)
	case n == mostShown+1:
		rd.t.Log("more faults of that kind are not shown")
	}
}

var errTooMany = errors.New("far more records came than there are")

// atMost makes a sink refuse records once more than n can explain have come.
func atMost(n int, came func() int) runneltest.Hook {
	return func(_ context.Context, c runneltest.Call) error {
		if c.Op == runneltest.OpWrite && came() > mostRecords(n) {
			return errTooMany
		}
		return nil
	}
}
