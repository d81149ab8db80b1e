package httpjson_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/wire"
	"github.com/runnel-go/runnel/transport/wire/httpjson"
)

// list is a list of n elements, and behind them one that is none.
func list(n int, element func(i int) string) []byte {
	text := &strings.Builder{}
	text.WriteByte('[')
	for i := range n {
		text.WriteString(element(i) + ",")
	}
	text.WriteString("0]")
	return []byte(text.String())
}

func TestMessagesBeyondABatchAreNotRead(t *testing.T) {
	t.Parallel()
	const most = (wire.MaxRecordSize - wire.BatchHeaderSize) / wire.MessageHeaderSize
	var messages httpjson.NewMessages
	require.NoError(t, messages.UnmarshalJSON(list(most+1, func(int) string { return "{}" })))
	require.Len(t, messages, most+1, "one too many")
	_, err := httpjson.AppendBatch(nil, messages, 0, func() wire.Uint128 { return wire.Uint128{Lo: 1} })
	require.ErrorIs(t, err, wire.ErrLength)
	require.Error(t, messages.UnmarshalJSON(list(1, func(int) string { return "{}" })))
}

func TestUserHeadersBeyondABlockAreNotRead(t *testing.T) {
	t.Parallel()
	header := func(i int) string {
		key := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%06d", i))
		return fmt.Sprintf(`{"key":{"kind":"string","value":%q},"value":{"kind":"uint8","value":"AA=="}}`, key)
	}
	const most = wire.MaxUserHeadersSize / (5 + 6 + 5 + 1)
	var headers httpjson.UserHeaders
	require.ErrorIs(t, headers.UnmarshalJSON(list(most+1, header)), wire.ErrLength)
	text := list(most, header)
	require.NoError(t, headers.UnmarshalJSON([]byte(strings.TrimSuffix(string(text), ",0]")+"]")))
	require.LessOrEqual(t, len(headers), wire.MaxUserHeadersSize)
	require.Error(t, headers.UnmarshalJSON(text), "the last one is none")
}
