package iggysink

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/client"
	"github.com/runnel-go/runnel/transport/wire"
)

func send(t *testing.T, p *Producer, text string) error {
	t.Helper()
	_, err := p.Send(t.Context(), texts(text))
	return err
}

func TestAnOperationThatTheProducerLeftIsResolvedBeforeTheNextSend(t *testing.T) {
	gone := &client.Error{Code: wire.CodeOperationUncertain, Operation: 5, Err: client.ErrSessionReplaced}
	for name, c := range map[string]struct {
		resolved error // what becomes of it
		err      wire.Code
	}{
		"it was done":               {nil, 0},
		"it was refused":            {fault(wire.CodeTopicFull), 0},
		"somebody else resolved it": {fault(wire.CodeOperationNotRetained), 0},
		"its session is gone":       {gone, 0},
		"it stays uncertain":        {uncertainOf(5), wire.CodeLaneBlocked},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *fake, p *Producer) {
				f.refuse["ResolveOperation 5"] = c.resolved
				f.next(uncertainOf(5), blockedBy(5))
				require.ErrorIs(t, send(t, p, "a"), wire.CodeOperationUncertain)
				err := send(t, p, "b")
				require.Contains(t, f.calls, "ResolveOperation 5")
				if c.err != 0 {
					require.ErrorIs(t, err, c.err)
					require.Equal(t, []string{"b"}, payloads(failedOf(t, err).Failed))
					require.Zero(t, failedOf(t, err).Uncertain)
					require.Len(t, f.requests(), 2)
					return
				}
				require.NoError(t, err)
				require.Equal(t, [][]string{{"a"}, {"b"}, {"b"}}, f.requests(), "what was uncertain is not sent as a new request")
				require.EqualValues(t, 1, p.Stats().Retried)
			})
		})
	}
}

func TestAnOperationThatOthersLeftIsForThemToResolve(t *testing.T) {
	bubble(t, func(t *testing.T, f *fake, p *Producer) {
		f.next(uncertainOf(5), blockedBy(6))
		require.ErrorIs(t, send(t, p, "a"), wire.CodeOperationUncertain)
		err := send(t, p, "b")
		require.ErrorIs(t, err, wire.CodeLaneBlocked)
		require.NotContains(t, f.calls, "ResolveOperation 6")
		require.Len(t, f.requests(), 2)
	})
}

func TestOnlyTheNewestOperationsAreRemembered(t *testing.T) {
	t.Parallel()
	var own ownOperations
	for i := range uint64(2 * mostOwn) {
		own.note(uncertainOf(i + 1))
	}
	require.Len(t, own.operations, mostOwn)
	_, is := own.blocks(blockedBy(1))
	require.False(t, is)
	_, is = own.blocks(blockedBy(2 * mostOwn))
	require.True(t, is)
	own.remove(2 * mostOwn)
	_, is = own.blocks(blockedBy(2 * mostOwn))
	require.False(t, is)
}
