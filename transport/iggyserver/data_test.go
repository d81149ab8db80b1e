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

func TestRootUserOfTheFolderCounts(t *testing.T) {
	t.Parallel()
	dir := iggyserver.Data(t.TempDir())
	server := start(t, dir)
	require.NoError(t, server.Close())

	_, err := iggyserver.Start(t.Context(), dir, iggyserver.AllowRemote(), iggyserver.TCP("0.0.0.0:0"),
		iggyserver.Username("boss"), iggyserver.Password("long secret"), iggyserver.PasswordRounds(1))
	require.ErrorIs(t, err, iggyserver.ErrDefaultPassword, "that of the folder")
	require.ErrorContains(t, err, "user iggy")
	require.NotContains(t, err.Error(), "long secret")

	server = start(t, dir, iggyserver.Username("boss"), iggyserver.Password("long secret"))
	require.Contains(t, server.ConnectionString(dial.TCP), "iggy+tcp://iggy:<password>@")
	require.NoError(t, server.Close())
	require.Contains(t, start(t, dir).ConnectionString(dial.TCP), "iggy+tcp://iggy:iggy@")
}
