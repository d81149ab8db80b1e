package transport_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel/internal/transporttest"
	"github.com/runnel-go/runnel/transport"
)

func TestLimitsOfZeroHaveTheirDefaults(t *testing.T) {
	t.Parallel()
	limits, err := transport.Limits{}.WithDefaults()
	require.NoError(t, err)
	require.Equal(t, transport.Limits{
		MaxReplyBytes:   64_156_564,
		MaxRequestBytes: 64_156_564,
		MaxInFlight:     256,
		IdleTimeout:     time.Minute,
		FrameTimeout:    30 * time.Second,
	}, limits)
}

func TestLimitsOutOfTheirBoundsAreAllNamed(t *testing.T) {
	t.Parallel()
	_, err := transport.Limits{MaxReplyBytes: 255, MaxRequestBytes: -1, MaxInFlight: 1 << 16, IdleTimeout: -1, FrameTimeout: -1}.WithDefaults()
	for _, name := range []string{"MaxReplyBytes is 255", "MaxRequestBytes is -1", "MaxInFlight is 65536", "IdleTimeout is -1ns", "FrameTimeout is -1ns"} {
		require.ErrorContains(t, err, name)
	}
}

func TestErrorNamesThePlaceAndTellsWhatIsSure(t *testing.T) {
	t.Parallel()
	err := error(&transport.Error{Op: "request", Addr: "tcp://h:8090", Unsent: true, Err: transport.Lost(io.EOF)})
	require.EqualError(t, err, "iggy: request tcp://h:8090: link lost: EOF")
	require.ErrorIs(t, err, transport.ErrLost)
	require.ErrorIs(t, err, io.EOF)
	require.True(t, transport.Unsent(fmt.Errorf("login: %w", err)))
	require.False(t, transport.Unsent(&transport.Error{Op: "request", Err: io.EOF}))
	require.False(t, transport.Unsent(errors.New("of something else")))
	require.False(t, transport.Unsent(nil))
}

func TestSizeErrorNamesTheOption(t *testing.T) {
	t.Parallel()
	err := transporttest.Request(1, "long").Check(259)
	require.EqualError(t, err, "frame of 260 bytes is longer than the limit of 259")
	err = transport.CheckRequest(transporttest.Request(1, "long"), transport.Limits{MaxRequestBytes: 259})
	require.EqualError(t, err, "frame of 260 bytes is longer than MaxRequestBytes allows, which is 259")
	err = transport.CheckAnswer(transporttest.Reply(1, "long"), transport.Limits{MaxReplyBytes: 259})
	require.EqualError(t, err, "frame of 260 bytes is longer than MaxReplyBytes allows, which is 259")
}

func TestCAFileWithoutACertificateIsRefused(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "ca.pem")
	_, err := transport.TLS{CAFile: name}.Config("h")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(name, []byte("no certificate"), 0o600))
	_, err = transport.TLS{CAFile: name}.Config("h")
	require.ErrorContains(t, err, "no certificate in PEM form")
}
