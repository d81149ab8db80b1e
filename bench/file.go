package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// childCommand is the first argument of a process that does the work of file for one contender: name, input, output.
const childCommand = "child"

// programs are the contenders of file that this command holds. Each reads NDJSON, keeps the late flights and writes CSV.
var programs = []struct {
	label string
	work  func(in, out string) error
}{
	{"by hand, one worker", func(in, out string) error { return convertInOrder(in, out) }},
	{"by hand, two workers", func(in, out string) error { return convertParallel(in, out, 2) }},
	{"Runnel, one decoder", convertRunnel(1)},
	{"Runnel, two decoders", convertRunnel(2)},
}

func runChild(args []string) error {
	if len(args) != 3 {
		return errors.New("child: want name, input and output")
	}
	for _, p := range programs {
		if p.label == args[0] {
			return errors.Join(p.work(args[1], args[2]), tellPeak())
		}
	}
	return fmt.Errorf("child: no program %q", args[0])
}

// fileGroup compares processes, start to end: reading lines, decoding, filtering and writing CSV. A round's n is MiB of input.
func fileGroup(s settings) (group, error) {
	in, err := fileInput(s)
	if err != nil {
		return group{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return group{}, err
	}
	out := filepath.Join(filepath.Dir(in.path), "late.csv")
	var all []contender
	for _, p := range programs {
		all = append(all, process{label: p.label, out: out, argv: []string{self, childCommand, p.label, in.path, out}})
	}
	return group{
		title:      "file: NDJSON → parse → delay > 15 → CSV, processes",
		n:          s.mebi,
		unit:       "MiB/s",
		want:       func(int) int64 { return in.late },
		contenders: append(all, pythons(s.python, in.path, out)...),
	}, nil
}

// process is a contender of file.
type process struct {
	label string
	argv  []string
	env   []string
	out   string
}

func (p process) name() string { return p.label }
func (p process) share() int   { return 1 }

// run measures the process with its start, and the most memory it had.
func (p process) run(ctx context.Context, _ int) (outcome, error) {
	if err := os.Remove(p.out); err != nil && !errors.Is(err, os.ErrNotExist) {
		return outcome{}, err
	}
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.Env = append(os.Environ(), p.env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil {
		return outcome{}, fmt.Errorf("%w: %s", err, said.Bytes())
	}
	rows, err := countRows(p.out)
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return outcome{count: rows, took: took, cpu: used, peak: peakOf(said.String())}, err
}

// tellPeak prints what Linux knows of this process's memory. The parent does not take it from rusage: there it is never less than
// what the parent itself had when it started the child.
func tellPeak() error {
	status, err := os.ReadFile("/proc/self/status")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	fmt.Printf("%s", status)
	return err
}

// peakOf finds the most memory a process had in what it printed, and 0 if it is not there.
func peakOf(said string) int64 {
	_, rest, _ := strings.Cut(said, "VmHWM:")
	var kibi int64
	if _, err := fmt.Sscan(rest, &kibi); err != nil {
		return 0
	}
	return kibi << 10
}
