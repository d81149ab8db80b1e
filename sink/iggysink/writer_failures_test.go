package iggysink

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestAFailureIsToldToTheMarkerThatWaits(t *testing.T) {
	open(t, func(t *testing.T, o *opened) {
		o.f.next(nil, fault(wire.CodeTopicFull))
		require.NoError(t, o.write(numbered(0, 4)...))
		o.mark()
		require.NoError(t, o.write(numbered(4, 6)...))
		o.mark()
		pass(time.Hour)
		require.Len(t, o.told(), 1)
		values, cause := refused(t, o.told()[0])
		require.Equal(t, numbered(2, 4), values)
		require.ErrorIs(t, cause, wire.CodeTopicFull)
		require.True(t, runnel.Retryable(cause))
		require.Len(t, o.f.requests(), 2, "nothing is written behind it until the pipeline has decided")

		require.NoError(t, o.write(numbered(6, 8)...), "that may have been on its way")
		require.NoError(t, o.write(values...), "the pipeline tries again")
		require.NoError(t, o.w.Flush(t.Context()))
		require.Equal(t, [][]string{
			numbered(0, 2), numbered(2, 4), numbered(4, 6), numbered(6, 8), numbered(2, 4),
		}, o.f.requests())
		require.Equal(t, []error{o.told()[0], nil}, o.told())
	}, Background(BatchLength(2)))
}

func TestAFailureThatNoMarkerWaitsForIsToldToTheNextCall(t *testing.T) {
	for name, c := range map[string]struct {
		call func(o *opened) error
		want [][]string // behind it and a flush
	}{
		"write": {func(o *opened) error { return o.write("c") }, [][]string{{"a"}, {"b"}, {"c"}}},
		"flush": {func(o *opened) error { return o.w.Flush(o.t.Context()) }, [][]string{{"a"}, {"b"}}},
		"marker": {func(o *opened) error {
			o.mark()
			return o.told()[0]
		}, [][]string{{"a"}, {"b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			open(t, func(t *testing.T, o *opened) {
				o.f.next(uncertainOf(3))
				require.NoError(t, o.write("a", "b"))
				pass(time.Minute)
				values, cause := refused(t, c.call(o))
				require.Equal(t, []string{"a"}, values)
				require.ErrorIs(t, cause, wire.CodeOperationUncertain)
				require.False(t, runnel.Retryable(cause), "it may have been written")
				pass(time.Minute)
				require.Len(t, o.f.requests(), 1, "the pipeline may end the run")
				require.NoError(t, o.w.Flush(t.Context()))
				require.Equal(t, c.want, o.f.requests())
				require.Equal(t, Stats{
					Sent: int64(len(c.want)), Confirmed: int64(len(c.want)) - 1, Failed: 1, Uncertain: 1, Requests: int64(len(c.want)) - 1,
				}, o.p.Stats())
			}, Background(BatchLength(1)), NotIdempotent())
		})
	}
}

func TestTheNextWriteOrMarkerBehindAToldFailureGoesOn(t *testing.T) {
	for name, goOn := range map[string]func(o *opened) error{
		"write": func(o *opened) error { return o.write("d") },
		"marker": func(o *opened) error {
			o.mark()
			return o.told()[0]
		},
	} {
		t.Run(name, func(t *testing.T) {
			open(t, func(t *testing.T, o *opened) {
				o.f.next(fault(wire.CodeTopicFull))
				require.NoError(t, o.write("a", "b"))
				pass(time.Minute)
				values, _ := refused(t, o.write("c", "bad"))
				require.Equal(t, []string{"a"}, values)
				values, _ = refused(t, goOn(o))
				require.Equal(t, []string{"bad"}, values, "what was carried is encoded late")
				pass(time.Minute)
				require.Equal(t, [][]string{{"a"}, {"b"}, {"c"}}, o.f.requests()[:3])
			}, Background(BatchLength(1)))
		})
	}
}

func TestAWriteThatWaitsForRoomReturnsWhenARequestFails(t *testing.T) {
	for name, marked := range map[string]bool{"with a marker": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			open(t, func(t *testing.T, o *opened) {
				o.f.next(nil, fault(wire.CodeTopicFull))
				if marked {
					require.NoError(t, o.write("0"))
					require.NoError(t, o.write("1"))
					o.mark()
				} else {
					require.NoError(t, o.write("0", "1"))
				}
				err := o.write(numbered(2, 12)...)
				require.Equal(t, 2*time.Minute, time.Since(epoch))
				if marked {
					require.NoError(t, err)
					err = o.told()[0]
				}
				values, _ := refused(t, err)
				require.Equal(t, []string{"1"}, values)
				require.LessOrEqual(t, o.p.Stats().BufferedBytes, int64(4*(messageBytes+1)))
				require.NoError(t, o.w.Flush(t.Context()))
				require.EqualValues(t, 11, o.p.Stats().Confirmed)
				var got []string
				for _, r := range o.f.requests() {
					got = append(got, r...)
				}
				require.Equal(t, numbered(0, 12), got)
			}, Background(BatchLength(1), MaxBufferBytes(3*(messageBytes+1))), slow(time.Minute))
		})
	}
}

func TestFailuresInEveryPlaceLoseAndRepeatNothing(t *testing.T) {
	for at := range 12 {
		open2 := func(t *testing.T, o *opened) {
			outcomes := make([]error, at, at+2)
			o.f.next(append(outcomes, fault(wire.CodeTopicFull), fault(wire.CodeNotConnected))...)
			again := func(err error) {
				for err != nil {
					values, cause := refused(t, err)
					require.True(t, runnel.Retryable(cause))
					err = o.write(values...)
				}
			}
			for i := range 6 {
				again(o.write(numbered(10*i, 10*i+10)...))
				o.mark()
				pass(time.Minute)
				for _, err := range o.told() {
					for err != nil {
						again(err)
						err = o.w.Flush(t.Context())
					}
				}
				o.forget()
			}
			again(o.w.Flush(t.Context()))
			require.NoError(t, o.w.Flush(t.Context()))
			got := map[string]int{}
			refusedSends := map[int]bool{at: true, at + 1: true}
			for i, r := range o.f.requests() {
				for _, text := range r {
					if !refusedSends[i] {
						got[text]++
					}
				}
			}
			require.Len(t, got, 60)
			for text, n := range got {
				require.Equal(t, 1, n, text)
			}
		}
		t.Run("", func(t *testing.T) { open(t, open2, Background(BatchLength(4))) })
	}
}
