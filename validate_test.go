package runnel_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/stretchr/testify/require"
)

// same is a stage that hands on what it gets.
func same(s runnel.Stream[int], opts ...runnel.StageOption) runnel.Stream[int] {
	return through(s, try(func(context.Context, int) error { return nil }), opts...)
}

// invalid is a source and a sink that are configured wrongly.
type invalid struct{ *collect[int] }

func (invalid) Validate() error { return errors.New("the topic has no name") }

// badSink is a sink of a type that cannot be told apart from another of its kind.
type badSink struct {
	*collect[int]
	options any
}

// mistake is a pipeline that Validate refuses, and what it says.
type mistake struct {
	name  string // of the pipeline; "p" if empty
	opts  []runnel.Option
	build func(p *runnel.Pipeline)
	want  []string
}

func (c mistake) test(t *testing.T) {
	t.Parallel()
	pipeline := map[string]string{"": "p", "-": ""}[c.name]
	p := runnel.New(pipeline, c.opts...)
	c.build(p)
	err := p.Validate()
	for _, want := range c.want {
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, err.Error(), p.Validate().Error(), "a second look finds the same")
	require.EqualError(t, p.Run(t.Context()), err.Error())
	p.Graph()
	p.Status()
}

// reads is a source that knows what it would read.
type reads struct {
	*numbers
	what string
}

func (s reads) Overlaps(owned string) bool {
	if s.what == "panic" {
		panic("a bug in overlaps")
	}
	return owned == s.what
}

func collecting() *collect[int] { return &collect[int]{} }

func TestValidateReportsEveryMistakeInTheGraph(t *testing.T) {
	t.Parallel()
	hour := []runnel.Option{runnel.Checkpoint(checkpoint.Memory())}
	src := func(traits runnel.Traits) *numbers { return &numbers{n: 1, traits: traits} }
	durable := runnel.Checkpoint(durably{checkpoint.Memory()})
	for name, c := range map[string]mistake{
		"nothing": {opts: hour, build: func(*runnel.Pipeline) {}, want: []string{
			`pipeline "p": has no source; add one with From`}},
		"no name": {name: "-", build: func(p *runnel.Pipeline) { runnel.From(p, &numbers{}).To(collecting()) }, want: []string{
			`pipeline "": has no name`}},
		"a stream with no sink": {build: func(p *runnel.Pipeline) { same(runnel.From(p, &numbers{})) }, want: []string{
			`pipeline "p": stage-1: nobody reads its stream; end it with To(sink)`}},
		"a source with no sink": {build: func(p *runnel.Pipeline) { runnel.From(p, &numbers{}) }, want: []string{
			`pipeline "p": source-1: nobody reads its stream; end it with To(sink)`}},
		"streams of two pipelines": {build: func(p *runnel.Pipeline) {
			other := runnel.New("q")
			runnel.Merge(runnel.From(p, &numbers{}), runnel.From(other, &numbers{})).To(collecting())
		}, want: []string{`pipeline "p": merge reads a stream of another pipeline ("q")`}},
		"a stream that was never made": {build: func(p *runnel.Pipeline) {
			runnel.Merge(runnel.From(p, &numbers{}), runnel.Stream[int]{}).To(collecting())
		}, want: []string{`pipeline "p": merge reads a stream that was never made (a zero Stream)`}},
		"a nil source and a nil sink": {build: func(p *runnel.Pipeline) {
			runnel.From[int](p, nil).To(collecting())
			runnel.From(p, (*numbers)(nil)).To(nil)
		}, want: []string{`source-1: is nil`, `source-2: is nil`, `sink-2: is nil`}},
		"a sink that is configured wrongly": {build: func(p *runnel.Pipeline) {
			runnel.From(p, &numbers{}).To(invalid{collecting()})
		}, want: []string{`pipeline "p": sink-1: the topic has no name`}},
		"a stage that is configured wrongly": {build: func(p *runnel.Pipeline) {
			same(runnel.From(p, &numbers{}), runnel.Invalid(errors.New("first")), runnel.Invalid(errors.New("second"))).To(collecting())
		}, want: []string{"pipeline \"p\": stage-1: first", "pipeline \"p\": stage-1: second"}},
		"a stage without a function": {build: func(p *runnel.Pipeline) {
			s := runnel.From(p, &numbers{})
			a := runnel.Apply[int, int](s, "apply", nil, nil)
			b, _ := runnel.Fork[int, int, int](a, "fork", nil, nil)
			runnel.Join[int, int, int](a, b, "join", nil, nil, nil).To(collecting())
		}, want: []string{"apply-1: has no function that opens it", "fork-1: has no function", "join-1: has no function"}},
		"names used twice": {build: func(p *runnel.Pipeline) {
			same(runnel.From(p, &numbers{}, runnel.Name("a"))).To(collecting(), runnel.Name("a"))
		}, want: []string{`two nodes are named "a"`}},
		"names that checkpoints need": {opts: []runnel.Option{durable}, build: func(p *runnel.Pipeline) {
			a, b := runnel.From(p, &numbers{}), runnel.From(p, &numbers{})
			sum(sum(runnel.Merge(a, b))).To(&collect[int]{kind: txSink})
			a.To(&collect[int]{kind: txSink})
			a.To(collecting())
			b.To(collecting())
		}, want: []string{
			`checkpoints are bound to names, and 2 nodes of kind "source" have none; name them with Name`,
			`2 nodes of kind "sum" have none`, `2 nodes of kind "sink" have none`}},
		"two deciders": {build: func(p *runnel.Pipeline) {
			s := runnel.From(p, &numbers{})
			s.To(&collect[int]{kind: decidingSink}, runnel.Name("db"))
			s.To(&collect[int]{kind: decidingSink}, runnel.Name("kafka"))
		}, want: []string{"db and kafka both decide checkpoints; one sink can"}},
		"a sink of a file that is read": {build: func(p *runnel.Pipeline) {
			runnel.From(p, reads{src(runnel.Traits{}), "file /a"}, runnel.Name("in")).To(says{collecting(), runnel.Traits{Owns: "file /a"}}, runnel.Name("out"))
			runnel.From(p, reads{src(runnel.Traits{}), "panic"}).To(collecting())
		}, want: []string{"in would read what out writes, file /a"}},
		"two sinks of one file": {build: func(p *runnel.Pipeline) {
			s := runnel.From(p, &numbers{})
			s.To(says{collecting(), runnel.Traits{Owns: "file /a"}}, runnel.Name("one"))
			s.To(says{collecting(), runnel.Traits{Owns: "file /b"}}, runnel.Name("two"))
			s.To(says{collecting(), runnel.Traits{Owns: "file /a"}}, runnel.Name("three"))
		}, want: []string{"one and three both write file /a; use one sink for both streams"}},
		"a sink that decides and is transactional": {build: func(p *runnel.Pipeline) {
			runnel.From(p, &numbers{}).To(says{collecting(), runnel.Traits{Transactional: true, Decides: true}})
		}, want: []string{"sink-1: is described as transactional and as deciding"}},
		"dead letters to where they come from": {build: func(p *runnel.Pipeline) {
			a, b := &collect[runnel.Failed]{}, &collect[runnel.Failed]{}
			letters := through(runnel.From(p, &numbers{}), stage[int, runnel.Failed](nil))
			letters.To(a, runnel.Name("a"), runnel.DeadLetter(b))
			letters.To(b, runnel.Name("b"), runnel.DeadLetter(a))
		}, want: []string{"a sends its dead letters to itself", "b sends its dead letters to itself"}},
		"a linger longer than the ack window": {build: func(p *runnel.Pipeline) {
			same(same(runnel.From(p, src(runnel.Traits{AckWindow: time.Minute}), runnel.Name("nats"))), runnel.Name("batch"), runnel.Lingers(2*time.Minute)).To(collecting())
		}, want: []string{"batch: its linger (2m0s) is not below the ack window of nats (1m0s): records would be delivered again"}},
		"checkpoints rarer than the ack window": {opts: []runnel.Option{every(checkpoint.Memory(), time.Minute)}, build: func(p *runnel.Pipeline) {
			runnel.From(p, src(runnel.Traits{AckWindow: time.Minute})).To(collecting())
		}, want: []string{"source-1: the checkpoint interval (1m0s) is not below the source's ack window (1m0s)"}},
		"a drain longer than the rebalance": {opts: []runnel.Option{runnel.DrainTimeout(time.Minute)}, build: func(p *runnel.Pipeline) {
			runnel.From(p, src(runnel.Traits{Moving: true, RebalanceTimeout: 45 * time.Second})).To(collecting())
		}, want: []string{"source-1: DrainTimeout (1m0s) is longer than the source's rebalance time-out (45s)"}},
		"a transaction shorter than interval and drain": {opts: []runnel.Option{every(checkpoint.Memory(), time.Minute)}, build: func(p *runnel.Pipeline) {
			runnel.From(p, src(runnel.Traits{})).To(&collect[int]{kind: txSink, traits: runnel.Traits{TransactionTimeout: time.Minute}})
		}, want: []string{"sink-1: transaction time-out (1m0s) is shorter than checkpoint interval plus DrainTimeout (1m30s)"}},
		"state below a source whose partitions move": {build: func(p *runnel.Pipeline) {
			sum(same(runnel.From(p, src(runnel.Traits{Moving: true}), runnel.Name("group")))).To(collecting())
		}, want: []string{"sum-1 has state, and the partitions of group can move to another process; read fixed partitions"}},
	} {
		t.Run(name, c.test)
	}
}

func TestValidateReportsEveryMistakeInTheOptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]mistake{
		"options of a sink twice": {build: func(p *runnel.Pipeline) {
			s, o := runnel.From(p, &numbers{}), collecting()
			s.To(o, runnel.Name("orders"))
			s.To(o, runnel.Skip())
		}, want: []string{`pipeline "p": sink orders gets options twice; give them at one place`}},
		"numbers out of bounds": {opts: []runnel.Option{
			runnel.MaxBatch(0), runnel.MaxInFlight(-1), runnel.DrainTimeout(-1), runnel.Restart(-1, 0), runnel.Checkpoint(checkpoint.Memory(), checkpoint.Every(-1), checkpoint.MaxOpen(0)),
		}, build: func(p *runnel.Pipeline) {
			same(runnel.From(p, &numbers{}), runnel.Parallel(0), runnel.Retry(0, time.Second), runnel.Timeout(-1)).To(collecting(), runnel.Retry(1, -1))
		}, want: []string{
			`MaxBatch is 0; it must be at least 1`, `MaxInFlight is -1; it must be 0 (no limit) or more`,
			`DrainTimeout is -1ns; it must not be negative`, `Restart(-1, 0s) has a negative argument`,
			`Every(-1ns): the interval must be above 0`, `MaxOpen(0): must be at least 1`,
			`stage-1: Parallel is 0; it must be at least 1`, `stage-1: Retry(0, 1s): attempts must be at least 1`,
			`stage-1: Timeout is -1ns; it must not be negative`, `sink-1: Retry(1, -1ns): attempts must be at least 1, the pause not negative`}},
		"nils": {opts: []runnel.Option{nil, runnel.Logger(nil), runnel.WithClock(nil), runnel.Checkpoint(nil)}, build: func(p *runnel.Pipeline) {
			runnel.From(p, &numbers{}, nil).To(collecting(), runnel.DeadLetter(nil))
		}, want: []string{"option 0 is nil", "Logger is nil", "WithClock is nil", "Checkpoint has a nil store",
			"source-1: option 0 is nil", "sink-1: DeadLetter has no sink"}},
		"a batch that no memory holds": {opts: []runnel.Option{runnel.MaxBatch(math.MaxInt)},
			build: func(p *runnel.Pipeline) { runnel.From(p, &numbers{}).To(collecting()) }, want: []string{"at most 1048576"}},
		"an in-flight limit below the batch size": {opts: []runnel.Option{runnel.MaxInFlight(10), runnel.MaxBatch(11)},
			build: func(p *runnel.Pipeline) { runnel.From(p, &numbers{}).To(collecting()) },
			want:  []string{"MaxInFlight is 10, below MaxBatch (11): a batch would never be let in"}},
		"a store without a folder": {opts: []runnel.Option{runnel.Checkpoint(checkpoint.Dir(""))},
			build: func(p *runnel.Pipeline) { runnel.From(p, &numbers{}).To(collecting()) }, want: []string{`pipeline "p": checkpoint: Dir `}},
		"options without effect": {build: func(p *runnel.Pipeline) {
			s := runnel.From(p, &numbers{}, runnel.Retry(2, 0), runnel.Timeout(1), runnel.Unordered())
			same(s, runnel.NoTimeout(), runnel.Timeout(1), runnel.Unordered()).To(collecting(), runnel.Timeout(1))
		}, want: []string{
			"source-1: Unordered has no effect without Parallel", "source-1: Timeout has no effect",
			"source-1: Retry is for stages and sinks; Restart starts a pipeline again", "stage-1: Unordered has no effect",
			"stage-1: Timeout has no effect: it calls no function that takes a context", "sink-1: Timeout has no effect"}},
		"names that cannot be shown": {build: func(p *runnel.Pipeline) {
			same(runnel.From(p, &numbers{}, runnel.Name("a\nb")), runnel.Name(" b")).To(collecting(), runnel.Name("\xff"))
		}, want: []string{`Name("a\nb") has characters`, `Name(" b") has characters that cannot be printed, or a space at an end`,
			`Name("\xff") has characters`, `pipeline "p": "a\nb": Name(`}},
		"a name that is too long": {build: func(p *runnel.Pipeline) {
			runnel.From(p, &numbers{}, runnel.Name(strings.Repeat("x", 5000))).To(collecting())
		}, want: []string{`"xxxxxxxxxxxxxxxxxxxx"…: Name is 5000 bytes long; it must be at most 200`}},
		"skip and dead letters": {build: func(p *runnel.Pipeline) {
			same(runnel.From(p, &numbers{}), runnel.Skip(), runnel.DeadLetter(&collect[runnel.Failed]{})).To(collecting())
		}, want: []string{"stage-1: Skip and DeadLetter exclude each other"}},
		"copies of a source and a sink": {build: func(p *runnel.Pipeline) {
			runnel.From(p, &numbers{}, runnel.Parallel(2)).To(collecting(), runnel.Parallel(2))
		}, want: []string{"source-1: Parallel is for stages; a source or sink has options of its own", "sink-1: Parallel is for stages"}},
		"copies of a join": {build: func(p *runnel.Pipeline) {
			s := runnel.From(p, &numbers{})
			runnel.Join(s, s, "join", nil, nil, func(runnel.StageEnv) (runnel.JoinStage[int, int, int], error) { return nil, nil }, runnel.Parallel(2)).To(collecting())
		}, want: []string{"join-1: Parallel does not apply to a stage with two inputs"}},
		"copies of a stage with state and no key": {build: func(p *runnel.Pipeline) {
			sum(runnel.From(p, &numbers{}), runnel.Parallel(2)).To(collecting())
		}, want: []string{"sum-1: Parallel needs a key for a stage with state; use KeyBy, or leave Parallel out"}},
	} {
		t.Run(name, c.test)
	}
}

func TestSettingsAtTheirLimitsAreValid(t *testing.T) {
	t.Parallel()
	p := runnel.New("p", runnel.MaxBatch(10), runnel.MaxInFlight(10), runnel.DrainTimeout(0), runnel.Restart(0, 0),
		every(durably{checkpoint.Memory()}, time.Minute))
	src := &numbers{n: 1, traits: runnel.Traits{AckWindow: time.Minute + 1, RebalanceTimeout: time.Second}}
	s := same(sum(runnel.From(p, src), runnel.Parallel(1)), runnel.Lingers(time.Minute))
	s.To(&collect[int]{kind: txSink, traits: runnel.Traits{TransactionTimeout: time.Minute}})
	s.To(badSink{&collect[int]{}, []int{1}}, runnel.Retry(1, 0))
	runnel.Fork(s, "fork", nil, func(runnel.StageEnv) (runnel.ForkStage[int, int, int], error) { return nil, nil })
	require.ErrorContains(t, p.Validate(), "fork-1: nobody reads its stream", "only the second output is optional")
}

func TestPipelineWithAMistakeCanBeRunOnceItIsMended(t *testing.T) {
	t.Parallel()
	out := &collect[int]{}
	p := runnel.New("p")
	s := runnel.From(p, &numbers{n: 1})
	require.ErrorContains(t, p.Run(t.Context()), "nobody reads its stream")
	s.To(out)
	require.NoError(t, p.Run(t.Context()))
	require.Equal(t, []int{0}, out.got())
}
