package runneltest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/runnel-go/runnel"
)

// ErrKilled is what every call of a killed process to the outside returns.
var ErrKilled = errors.New("runneltest: the process was killed")

// CrashOption changes how [Crash] works.
type CrashOption interface{ applyCrash(*crashConfig) }

type crashConfig struct {
	seed    uint64
	most    int
	release bool
	stops   bool
}

type crashOption func(*crashConfig)

func (o crashOption) applyCrash(c *crashConfig) { o(c) }

// Seed sets what the random choices follow from. The default is 1; the name of each subtest shows it.
func Seed(seed uint64) CrashOption { return crashOption(func(c *crashConfig) { c.seed = seed }) }

// Most bounds the number of places that are tried, which are then chosen at random. The default is 100; 0 means all.
func Most(n int) CrashOption { return crashOption(func(c *crashConfig) { c.most = n }) }

// ReleaseByClose lets a killed process close its sources and sinks. It is for systems that hold something in this
// process that the end of a real one would release, such as a file lock, and whose Close changes nothing else.
func ReleaseByClose() CrashOption { return crashOption(func(c *crashConfig) { c.release = true }) }

// ByStop ends each process by a clean stop in place of a kill. Then nothing is repeated either, whatever the sinks.
func ByStop() CrashOption { return crashOption(func(c *crashConfig) { c.stops = true }) }

// Crash runs a scenario again and again, in subtests, and each time kills its process at another place: before, or
// right after, a call to the outside, which is whatever goes through [Process.Hook]. Half of the restarted processes are
// killed once more. First the scenario runs undisturbed, which shows how many places there are.
//
// The scenario makes its systems (data, store, sinks that outlive a process), has [Machine.Run] run the pipeline on
// them until it ends, and checks what is there in the end:
//
//	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
//		store, out := runneltest.NewStore(), runneltest.NewTxSink[int]()
//		m.Run(func(p *runneltest.Process) *runnel.Pipeline {
//			pipe := runnel.New("sum", runnel.Checkpoint(runneltest.HookStore(store, p.Hook), checkpoint.EveryRecords(10)))
//			numbers := runnel.From(pipe, runneltest.HookSource(source.Slice(data), p.Hook))
//			numbers.To(runneltest.HookSink(out, p.Hook))
//			return pipe
//		})
//		runneltest.ExactlyOnce(t, data, out.Committed())
//	})
//
// From the kill on, no call of the process reaches the outside, as after kill -9; only the lease of its store ends.
func Crash(t *testing.T, scenario func(t *testing.T, m *Machine), opts ...CrashOption) {
	t.Helper()
	c := crashConfig{seed: 1, most: 100}
	for _, o := range opts {
		o.applyCrash(&c)
	}
	places := 0
	if !t.Run("undisturbed", func(t *testing.T) {
		m := &Machine{t: t, cfg: c}
		scenario(t, m)
		places = m.places
	}) {
		return
	}
	random := rand.New(rand.NewPCG(c.seed, uint64(places)))
	order := random.Perm(places)
	if c.most > 0 && c.most < places {
		order = order[:c.most]
	}
	slices.Sort(order)
	for _, place := range order {
		kills := []int{place + 1}
		if random.IntN(2) == 0 {
			kills = append(kills, 1+random.IntN(places))
		}
		end := "killed"
		if c.stops {
			end = "stopped"
		}
		t.Run(fmt.Sprintf("%s at %v of %d, seed %d", end, kills, places, c.seed), func(t *testing.T) {
			scenario(t, &Machine{t: t, cfg: c, kills: kills})
		})
	}
}

// Machine runs the processes of one scenario, one after the other.
type Machine struct {
	t      *testing.T
	cfg    crashConfig
	kills  []int // the places at which the processes to come are killed
	places int   // how many the processes have passed
}

// Run builds and runs a pipeline, and again after each kill, until one ends by itself. It fails the test if that ends
// with an error. A scenario may call it more than once.
func (m *Machine) Run(build func(p *Process) *runnel.Pipeline) {
	m.t.Helper()
	for {
		ctx, stop := context.WithCancel(context.Background())
		p := &Process{cfg: m.cfg, stop: stop}
		if len(m.kills) > 0 {
			p.endAt, m.kills = m.kills[0], m.kills[1:]
		}
		p.pipeline = build(p)
		err := p.pipeline.Run(ctx)
		stop()
		places, ended, killed := p.outcome()
		m.places += places
		if err != nil && !killed {
			m.t.Fatalf("runneltest: the run failed, and nobody killed it: %v", err)
		}
		if !ended {
			return
		}
	}
}

// Process is one life of the program.
type Process struct {
	pipeline *runnel.Pipeline
	stop     context.CancelFunc
	cfg      crashConfig
	endAt    int // 0: never

	mu     sync.Mutex
	places int  // guarded by mu
	ended  bool // its time has come; guarded by mu
}

// Hook counts the calls to the outside, and ends the process when its time has come. It is a [Hook].
func (p *Process) Hook(_ context.Context, c Call) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.places++
		if p.places != p.endAt {
			return nil
		}
		p.ended = true
		if p.cfg.stops {
			p.stop()
		} else {
			p.pipeline.Abort() // only ends the goroutines; no call of theirs gets through
		}
	}
	closes := c.Op == OpCloseSink || c.Op == OpCloseSource
	if p.cfg.stops || c.Op == OpCloseStore || (closes && p.cfg.release) {
		return nil
	}
	return ErrKilled
}

// Step is a place in user code: it returns an error once the process is killed.
func (p *Process) Step(ctx context.Context) error { return p.Hook(ctx, Call{Op: OpUser}) }

// Stop ends the context of the run, for a pipeline whose sources do not end: a clean stop. It does not wait, and may be
// called from [runnel.OnCheckpoint].
func (p *Process) Stop() { p.stop() }

// Killed says whether the process was killed.
func (p *Process) Killed() bool {
	_, _, killed := p.outcome()
	return killed
}

func (p *Process) outcome() (places int, ended, killed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.places, p.ended, p.ended && !p.cfg.stops
}
