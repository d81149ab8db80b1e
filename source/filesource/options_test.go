package filesource

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mistakes takes apart what Validate returned.
func mistakes(err error) []string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var all []string
	for _, e := range joined.Unwrap() {
		all = append(all, e.Error())
	}
	return all
}

func TestEveryMistakeNamesThePath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source interface{ Validate() error }
		want   []string
	}{
		{Lines("a.log", MaxLineBytes(0), nil), []string{
			"filesource: a.log: MaxLineBytes is less than 1",
			"filesource: a.log: an option is nil",
		}},
		{Lines("", MaxLineBytes(0)), []string{
			"filesource: MaxLineBytes is less than 1",
			"filesource: the path is empty",
		}},
		{Lines("["), []string{"filesource: [: syntax error in pattern"}},
		{CSV[int]("a.csv", SkipHeader(), nil), []string{
			"filesource: a.csv: an option is nil",
			"filesource: a.csv: SkipHeader is for CSVRows: CSV always has a header",
			"filesource: a.csv: CSV cannot be read into int: it is no struct",
		}},
		{Lines("a.log"), nil},
	} {
		require.Equal(t, c.want, mistakes(c.source.Validate()))
	}
}

func TestOptionsOfFollowNeedIt(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Option{
		"Grace": Grace(time.Second), "PollInterval": PollInterval(time.Second), "PollOnly": PollOnly(), "MaxOpenFiles": MaxOpenFiles(5),
	} {
		want := []string{"filesource: f: " + name + " has no effect without Follow; leave it out, or give both"}
		require.Equal(t, want, mistakes(Lines("f", o).Validate()))
		require.Equal(t, want, mistakes(CSVRows("f", o).Validate()))
		require.NoError(t, Lines("f", o, Follow()).Validate())
		require.NoError(t, Lines("f", Follow(), o).Validate())
	}
	require.NoError(t, Lines("f", ForgetAfter(time.Hour)).Validate(), "positions are forgotten without Follow too")
}
