package fileconn

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLayoutThatSaysNothingOfATimeIsRefused(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"", "nonsense", "YYYY-MM-DD", "%Y-%m-%d %H:%M:%S", "yyyy-MM-dd'T'HH:mm:ss"} {
		require.ErrorContains(t, CheckLayout(layout), "is no layout of a time", layout)
	}
	for _, layout := range []string{
		time.Layout, time.ANSIC, time.UnixDate, time.RubyDate, time.RFC822, time.RFC822Z, time.RFC850, time.RFC1123,
		time.RFC1123Z, time.RFC3339, time.RFC3339Nano, time.Kitchen, time.Stamp, time.StampNano, time.DateOnly,
		time.TimeOnly, "2006", "20060102", "20060102150405", "2006-002", "02.01.2006", "1/2/06 3:04 PM", "15:04",
	} {
		require.NoError(t, CheckLayout(layout), layout)
	}
}
