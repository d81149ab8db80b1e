package flow_test

import (
	"testing"
	"time"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/flow"
	"github.com/stretchr/testify/require"
)

func TestMapRecordSetsMetadata(t *testing.T) {
	t.Parallel()
	src := count(30, 7)
	src.meta = fullMeta
	records, _ := through(t, src, func(s runnel.Stream[int]) runnel.Stream[string] {
		return flow.MapRecord(s, func(r runnel.Record[int]) (runnel.Record[string], error) {
			meta := r.Meta
			meta.Key = append([]byte("key "), r.Key...)
			meta.Time = r.Time.Add(time.Hour)
			meta.Headers = nil
			return runnel.Record[string]{Value: r.Origin.Source, Meta: meta}, nil
		})
	})
	require.Len(t, records, 30)
	for i, r := range records {
		require.Equal(t, "list-source-1", r.Value)
		require.Equal(t, append([]byte("key "), byte(i)), r.Key)
		require.Equal(t, fullMeta(i).Time.Add(time.Hour), r.Time)
		require.Nil(t, r.Headers)
		require.EqualValues(t, i, r.Origin.Offset)
	}
}

func TestFlatMapRecordGivesEachResultItsOwnMetadata(t *testing.T) {
	t.Parallel()
	records, _ := through(t, of("ab", "", "c"), func(s runnel.Stream[string]) runnel.Stream[rune] {
		return flow.FlatMapRecord(s, func(r runnel.Record[string]) ([]runnel.Record[rune], error) {
			var all []runnel.Record[rune]
			for _, letter := range r.Value {
				meta := r.Meta
				meta.Key = []byte(string(letter))
				all = append(all, runnel.Record[rune]{Value: letter, Meta: meta})
			}
			return all, nil
		})
	})
	require.Equal(t, []rune("abc"), valuesOf(records))
	for _, r := range records {
		require.Equal(t, string(r.Value), string(r.Key))
	}
	require.EqualValues(t, 2, records[2].Origin.Offset)
}
