package filesink

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runnel-go/runnel"
	"github.com/runnel-go/runnel/internal/fileconn/faultfs"
)

func TestNDJSONIsALineOfJSONForEachRecord(t *testing.T) {
	t.Parallel()
	type order struct {
		ID   int             `json:"id"`
		Note string          `json:"note"`
		Raw  json.RawMessage `json:"raw,omitempty"`
	}
	mem := faultfs.NewMem()
	w := open(t, NDJSON[order]("o", on(mem)), runnel.SinkEnv{})
	write(t, w, order{1, "line\nfeed <&>", nil}, order{2, "", json.RawMessage("{\n \"a\": 1\n}")})
	complete(t, w, 1)
	closed(t, w)
	require.Equal(t, `{"id":1,"note":"line\nfeed \u003c\u0026\u003e"}`+"\n"+`{"id":2,"note":"","raw":{"a":1}}`+"\n", content(t, mem, "o"))
}

func TestNDJSONOfFailedIsADeadLetterFile(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	w := open(t, NDJSON[runnel.Failed]("o", on(mem)), runnel.SinkEnv{})
	write(t, w, runnel.Failed{
		Meta:  runnel.Meta{Origin: runnel.Origin{Source: "in", Partition: "p", Offset: 7}, Key: []byte("k")},
		Value: "text\nof two lines", Stage: "parse", Attempts: 2, Err: errors.New("bad"),
	})
	complete(t, w, 1)
	closed(t, w)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(content(t, mem, "o")), &got))
	require.Equal(t, map[string]any{
		"stage": "parse", "error": "bad", "attempts": 2.0, "source": "in", "partition": "p", "offset": 7.0, "key": "aw==",
		"value": "text\nof two lines",
	}, got)
}

func TestLinesAndBytesRefuseALineFeed(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	w := open(t, Bytes("b", on(mem)), runnel.SinkEnv{})
	err := w.Write(t.Context(), batch([]byte("a"), []byte("b\nc"), []byte{}, nil))
	require.ErrorIs(t, err, ErrLineFeed)
	complete(t, w, 1)
	closed(t, w)
	require.Equal(t, "a\n\n\n", content(t, mem, "b"))

	lines := open(t, Lines("l", on(mem)), runnel.SinkEnv{})
	err = lines.Write(t.Context(), batch("a", "\n", "b"))
	require.ErrorIs(t, err, ErrLineFeed)
	complete(t, lines, 1)
	closed(t, lines)
	require.Equal(t, "a\nb\n", content(t, mem, "l"))
}

func TestEncodersGetTheValueOrTheRecord(t *testing.T) {
	t.Parallel()
	mem := faultfs.NewMem()
	w := open(t, EncodeRecord("o", func(dst []byte, r runnel.Record[int]) ([]byte, error) {
		return fmt.Appendf(dst, "%s %s %d\n", r.Key, r.Time.Format(time.DateOnly), r.Value), nil
	}, on(mem)), runnel.SinkEnv{})
	meta := []runnel.Meta{{Key: []byte("k"), Time: time.Unix(0, 0).UTC()}}
	require.NoError(t, w.Write(t.Context(), runnel.NewBatch([]int{5}, meta)))
	complete(t, w, 1)
	closed(t, w)
	require.Equal(t, "k 1970-01-01 5\n", content(t, mem, "o"))
}

// TestEncodingAllocatesNothing: memory of a block is used again.
func TestEncodingAllocatesNothing(t *testing.T) {
	type small struct {
		ID   int     `json:"id" csv:"id"`
		Name string  `json:"name" csv:"name"`
		F    float64 `json:"f" csv:"f"`
	}
	values := make([]small, 1000)
	for i := range values {
		values[i] = small{i, "name", 1.5}
	}
	row := make([]string, 2)
	for name, s := range map[string]*Sink[small]{
		"NDJSON": NDJSON[small]("o"),
		"CSVOf":  CSVOf[small]("o"),
		"CSV":    CSV("o", header, func(v small) []string { row[0], row[1] = v.Name, "x"; return row }),
		"Encode": Encode("o", func(dst []byte, v small) ([]byte, error) { return append(append(dst, v.Name...), '\n'), nil }),
	} {
		s.cfg.fsys = discard{}
		w := open(t, s, runnel.SinkEnv{})
		b := batch(values...)
		write(t, w, values...)
		allocs := testing.AllocsPerRun(20, func() {
			if err := w.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		})
		require.Less(t, allocs, 10.0, "%s: for 1,000 records", name)
	}
}
