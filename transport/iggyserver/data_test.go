package iggyserver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/transport/dial"
	"github.com/runnel-go/runnel/transport/iggyserver"
)

func TestServerGoesOnWithWhatIsInItsFolder(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]iggyserver.Option{
		"no fsync": nil, "fsync always": {iggyserver.FsyncAlways()}, "fsync every": {iggyserver.FsyncEvery(time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := append(options, iggyserver.Data(t.TempDir()))
			server := start(t, options...)
			c := login(t, server, dial.TCP)
			c.createTopic()
			c.put("a", "b")
			_, err := iggyserver.Start(t.Context(), options...)
			require.ErrorIs(t, err, iggyserver.ErrDataInUse)
			require.NoError(t, server.Close())
			again := login(t, start(t, options...), dial.TCP)
			require.Equal(t, []string{"a", "b"}, again.all())
		})
	}
}

func TestServerRefusesAnIntervalThatIsNone(t *testing.T) {
	t.Parallel()
	_, err := iggyserver.Start(t.Context(), iggyserver.Data(t.TempDir()), iggyserver.FsyncEvery(0))
	require.ErrorContains(t, err, "FsyncEvery is below 1ms")
}
