package iggysink_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/sink"
	"github.com/runnel-go/runnel/sink/iggysink"
	"github.com/runnel-go/runnel/source"
	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/wire"
)

// A server refuses three sends. With enough attempts everything is written; when they are used up the run fails, or the
// records go to the dead letters. In no case a record is gone.
func TestSNK07RefusedSendsAreRetriedAndThenTold(t *testing.T) {
	const refusals = 3
	overAll(t, func(t *testing.T, protocol dial.Protocol, _ *client.Client) {
		for name, c := range map[string]struct {
			options func(dead *sink.Slice[runnel.Failed]) []runnel.StageOption
			written []string
			dead    int
			fails   bool
		}{
			"retried": {
				func(*sink.Slice[runnel.Failed]) []runnel.StageOption {
					return []runnel.StageOption{runnel.Retry(refusals+1, time.Millisecond)}
				}, numbered(0, 10), 0, false,
			},
			"used up": {
				func(*sink.Slice[runnel.Failed]) []runnel.StageOption {
					return []runnel.StageOption{runnel.Retry(refusals, time.Millisecond)}
				}, nil, 0, true,
			},
			"dead letters": {
				func(dead *sink.Slice[runnel.Failed]) []runnel.StageOption {
					return []runnel.StageOption{runnel.Retry(refusals, time.Millisecond), runnel.DeadLetter(dead)}
				}, nil, 10, false,
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				server := start(t)
				for n := range refusals {
					server.Faults().Refuse(wire.CmdSendMessages, n+1, wire.CodeTopicFull)
				}
				cl, dead := clientOf(t, server, protocol), sink.NewSlice[runnel.Failed]()
				p := runnel.New("copy")
				out := iggysink.Encode(iggysink.NewProducer(cl, wire.Named("s"), wire.Named("t")), encodeText)
				runnel.From(p, source.Slice(numbered(0, 10))).To(out, c.options(dead)...)
				err := p.Run(t.Context())
				if c.fails {
					require.ErrorIs(t, err, wire.CodeTopicFull)
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, c.written, texts(t, cl, 0))
				require.Equal(t, c.dead, dead.Len())
			})
		}
	})
}
