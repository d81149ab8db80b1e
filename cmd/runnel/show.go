package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/runnel-go/runnel/checkpoint"
)

// maxHex is how many bytes of an opaque token are printed: enough to compare two of them by eye.
const maxHex = 16

func show(all *bool) action {
	return func(ctx context.Context, c console, args []string) error {
		folder, err := oneFolder(args)
		if err != nil {
			return err
		}
		infos, err := checkpoint.Inspect(ctx, folder)
		if err != nil {
			return err
		}
		text := &strings.Builder{}
		writeFolder(text, folder, infos, *all)
		_, err = io.WriteString(c.out, text.String())
		return err
	}
}

// writeFolder prints checkpoints, newest first, and what was set aside. In full it prints the one that the next run
// goes on from, or all.
func writeFolder(w io.Writer, folder string, infos []checkpoint.Info, all bool) {
	kept, aside := split(infos)
	fmt.Fprintln(w, headline(folder, kept))
	intact := false
	for i, info := range slices.Backward(kept) {
		isFirst := info.Damage == nil && !intact
		intact = intact || isFirst
		writeOne(w, info, i == len(kept)-1)
		if isFirst || all {
			writeContent(w, info)
		}
	}
	if len(kept) > 0 && !intact {
		fmt.Fprintln(w, "\nNone of them can be read.")
	}
	if len(aside) > 0 {
		fmt.Fprintln(w, "\nset aside by a rewind, not used:")
	}
	for _, info := range aside {
		fmt.Fprintf(w, "  %s (%s)\n", info.File, bytesText(info.Bytes))
	}
}

// split tells the checkpoints from those set aside.
func split(infos []checkpoint.Info) (kept, aside []checkpoint.Info) {
	for _, info := range infos {
		if info.SetAside {
			aside = append(aside, info)
		} else {
			kept = append(kept, info)
		}
	}
	return kept, aside
}

// headline says whose checkpoints there are and how many.
func headline(folder string, kept []checkpoint.Info) string {
	if len(kept) == 0 {
		return plain(folder) + ": no checkpoints"
	}
	line := fmt.Sprintf("%s: %s", plain(folder), counted(len(kept), "checkpoint"))
	if name, ok := pipelineOf(kept); ok {
		line += " of pipeline " + plain(name)
	}
	damaged := 0
	for _, info := range kept {
		if info.Damage != nil {
			damaged++
		}
	}
	if damaged > 0 {
		line += fmt.Sprintf(", %d damaged", damaged)
	}
	return line
}

// pipelineOf returns the name of the pipeline, as far as any file can be read.
func pipelineOf(infos []checkpoint.Info) (string, bool) {
	for _, info := range slices.Backward(infos) {
		if info.Base > 0 {
			return info.Pipeline, true
		}
	}
	return "", false
}

// writeOne prints a line about a checkpoint, and one about its damage.
func writeOne(w io.Writer, info checkpoint.Info, newest bool) {
	line := fmt.Sprintf("\ncheckpoint %d", info.Number)
	if newest {
		line += ", the newest"
	}
	if info.Base > 0 {
		line += ": taken " + info.Taken.UTC().Format(time.RFC3339)
		if info.Base != info.Number {
			line += fmt.Sprintf(", changes in the chain from %d", info.Base)
		}
	}
	fmt.Fprintln(w, line)
	fmt.Fprintf(w, "  file %s (%s)\n", info.File, bytesText(info.Bytes))
	if info.Damage != nil {
		fmt.Fprintf(w, "  DAMAGED: %v\n", info.Damage)
	}
}

// writeContent prints what a checkpoint holds, if it can be read.
func writeContent(w io.Writer, info checkpoint.Info) {
	if len(info.Shape) > 0 {
		fmt.Fprintf(w, "  taken of %s\n", plain(strings.Join(info.Shape, ", ")))
	}
	for _, source := range slices.Sorted(maps.Keys(info.Sources)) {
		fmt.Fprintf(w, "  source %s\n", plain(source))
		writePosition(w, info.Sources[source])
	}
	table := newTable(w)
	for _, sink := range slices.Sorted(maps.Keys(info.Tokens)) {
		fmt.Fprintf(table, "  sink %s\ttoken of %s\n", plain(sink), bytesText(int64(info.Tokens[sink])))
	}
	for _, stage := range slices.Sorted(maps.Keys(info.States)) {
		fmt.Fprintf(table, "  stage %s\t%s\n", plain(stage), stateText(info.States[stage]))
	}
	table.Flush()
}

func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 3, ' ', 0) }

func writePosition(w io.Writer, p checkpoint.Position) {
	if len(p) == 0 {
		fmt.Fprintln(w, "    no position yet")
		return
	}
	table := newTable(w)
	for _, partition := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(table, "    %s\t%s\n", plain(partition), tokenText(p[partition]))
	}
	table.Flush()
}

// tokenText says what an offset token means, and of any other only how long it is and how it begins.
func tokenText(token []byte) string {
	next, guard, err := checkpoint.ParseOffset(token)
	if err != nil {
		return opaque(token)
	}
	text := fmt.Sprintf("next offset %d", next)
	if len(guard) > 0 {
		text += ", guard of " + opaque(guard)
	}
	return text
}

func opaque(b []byte) string {
	text, more := b, ""
	if len(b) > maxHex {
		text, more = b[:maxHex], "…"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s%s", bytesText(int64(len(b))), hex.EncodeToString(text), more))
}

func stateText(s checkpoint.StateInfo) string {
	if s.Full {
		return fmt.Sprintf("%s, %s", entries(s.Put), bytesText(s.Bytes))
	}
	return fmt.Sprintf("%s set and %d removed, %s", entries(s.Put), s.Deleted, bytesText(s.Bytes))
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}
