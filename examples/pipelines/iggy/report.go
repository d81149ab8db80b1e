package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/runnel-go/runnel/examples/internal/report"
	"github.com/runnel-go/runnel/transport/wire"
)

// report compares the file with what was produced.
func (w *world) report(ctx context.Context, to io.Writer, out string) error {
	text, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	topic, err := w.client.GetTopic(ctx, wire.Named(w.stream), wire.Named(lateTopic))
	if err != nil {
		return err
	}
	seen, lines := map[int]bool{}, 0
	for line := range bytes.Lines(text) {
		var f flight
		if err := json.Unmarshal(line, &f); err != nil {
			return fmt.Errorf("%s: %w", out, err)
		}
		lines++
		seen[f.ID] = seen[f.ID] || w.late[f.ID]
	}
	missing := len(w.late)
	for _, late := range seen {
		if late {
			missing--
		}
	}
	copied := int(topic.Topic.MessagesCount)
	fmt.Fprintf(to, "produced  %9s flights\n", report.Number(w.produced))
	fmt.Fprintf(to, "late      %9s\n", report.Number(len(w.late)))
	fmt.Fprintf(to, "copied    %9s, of which %d again since the last checkpoint of the member that was killed\n",
		report.Number(copied), copied-len(w.late))
	fmt.Fprintf(to, "missing   %9d\n", missing)
	fmt.Fprintf(to, "doubled   %9d in %s\n", lines-len(seen), out)
	if missing != 0 || lines != len(w.late) || copied < len(w.late) {
		return fmt.Errorf("%d missing, %d lines instead of %d", missing, lines, len(w.late))
	}
	return nil
}
