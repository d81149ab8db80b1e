package iggysink_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/sink/iggysink"
	"github.com/runnel-go/runnel/sink/sinktest"
	"github.com/runnel-go/runnel/transport/wire"
)

func TestSinkKeepsTheContract(t *testing.T) {
	t.Parallel()
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, systems := start(t), 0
			sinktest.Run(t, func(t *testing.T) sinktest.System[string] {
				systems++
				stream := wire.Named(fmt.Sprint("stream ", systems))
				c := clientOf(t, server, protocol)
				require.NoError(t, c.SignIn(t.Context()))
				return sinktest.System[string]{
					Sink: func() runnel.Sink[string] {
						return iggysink.Encode(iggysink.NewProducer(c, stream, wire.Named("t")), encodeText)
					},
					Value: func(i int) string { return fmt.Sprint("value ", i) },
					Bad:   func() string { return "bad" },
					Read:  func(t *testing.T) []string { return textsIn(t, c, stream, 0) },
				}
			}, sinktest.Features{CloseToKill: true})
		})
	}
}

var errBad = errors.New("it is bad")

func encodeText(r runnel.Record[string]) (m iggysink.Message, err error) {
	if r.Value == "bad" {
		return m, errBad
	}
	m.Payload = []byte(r.Value)
	if len(r.Headers) > 0 { // the suite has a header of one byte, and that may be 0
		m.Headers = []wire.UserHeader{}
	}
	return m, nil
}
