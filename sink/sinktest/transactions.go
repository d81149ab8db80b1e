package sinktest

import (
	"testing"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/checkpoint"
	"github.com/runnel-go/runnel/runneltest"
	"github.com/runnel-go/runnel/source"
)

// transactional starts a process of a transactional sink, or skips.
func (s *suite[T]) transactional(t *testing.T) *process[T] {
	t.Helper()
	p := s.start(t)
	if p.tx == nil {
		t.Skip("the sink is not transactional")
	}
	return p
}

// commits: what is prepared is not visible, what is committed is, and a second commit changes nothing.
func (s *suite[T]) commits(t *testing.T) {
	p := s.transactional(t)
	p.write(0, 3)
	p.requireNotYet(0)
	p.prepare()
	p.requireNotYet(0)
	p.commit()
	p.requireVisible(3)
	p.commit()
	p.requireVisible(3)
	p.write(3, 5)
	p.prepare()
	p.requireNotYet(3)
	p.commit()
	p.requireVisible(5)
}

// aborts: an abort takes back what was written, and nothing that was committed.
func (s *suite[T]) aborts(t *testing.T) {
	p := s.transactional(t)
	p.write(0, 3)
	p.marker()
	p.write(100, 105)
	p.do("Abort", p.tx.Abort)
	p.requireNotYet(3)
	p.close()
	next := s.open(t, p.sys, p.n, p.token)
	next.requireVisible(3)
	next.write(3, 5)
	next.marker()
	next.requireVisible(5)
}

// finishes: a process that died between prepare and commit left something that the next one makes visible, as the
// checkpoint that it starts from says. That may happen more than once.
func (s *suite[T]) finishes(t *testing.T) {
	p := s.transactional(t)
	p.write(0, 3)
	p.marker()
	p.write(3, 6)
	p.prepare()
	p.kill()
	for range 2 {
		next := s.open(t, p.sys, p.n, p.token)
		next.requireVisible(6)
		next.kill()
	}
	next := s.open(t, p.sys, p.n, p.token)
	next.commit()
	next.requireVisible(6)
	next.write(6, 8)
	next.marker()
	next.requireVisible(8)
	next.write(100, 105) // not prepared
	next.kill()
	last := s.open(t, p.sys, next.n, next.token)
	last.requireVisible(8)
}

// drops: what was prepared for a checkpoint that was not decided never becomes visible.
func (s *suite[T]) drops(t *testing.T) {
	p := s.transactional(t)
	p.write(0, 3)
	p.marker()
	decided, token := p.n, p.token
	p.write(100, 105)
	p.prepare()
	p.kill()
	next := s.open(t, p.sys, decided, token)
	next.requireVisible(3)
	next.write(3, 5)
	next.prepare() // the same number as what was dropped
	next.requireNotYet(3)
	next.commit()
	next.requireVisible(5)
	next.close()
	last := s.open(t, p.sys, next.n, next.token)
	last.requireVisible(5)
}

// survivesKills: whenever the process of a pipeline is killed, in the end every record is there: once if the sink is
// transactional or decides, at least once otherwise.
func (s *suite[T]) survivesKills(t *testing.T) {
	const n = 60
	opts := []runneltest.CrashOption{runneltest.Most(40)}
	if s.f.CloseToKill {
		opts = append(opts, runneltest.ReleaseByClose())
	}
	runneltest.Crash(t, func(t *testing.T, m *runneltest.Machine) {
		sys := s.setup(t)
		values := make([]T, n)
		for i := range values {
			values[i] = sys.Value(i)
		}
		store, last := runneltest.NewStore(), (*runneltest.Process)(nil)
		m.Run(func(proc *runneltest.Process) *runnel.Pipeline {
			if last != nil && sys.Kill != nil {
				sys.Kill()
			}
			last = proc
			p := runnel.New("conformance", runnel.MaxBatch(8),
				runnel.Checkpoint(runneltest.HookStore(store, proc.Hook), checkpoint.EveryRecords(16)))
			numbers := runnel.From(p, runneltest.HookSource(source.Slice(values), proc.Hook))
			numbers.To(runneltest.HookSink(sys.Sink(), proc.Hook), runnel.Name("conformance"))
			return p
		})
		declared := traits(sys.Sink())
		if declared.Transactional || declared.Decides || s.f.Unique {
			requireShown(t, sys, s.f, values)
			return
		}
		runneltest.AtLeastOnce(t, sys.show(values), sys.show(sys.Read(t)))
	}, opts...)
}
