package main

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

func checkpointCommand() *command {
	return &command{
		name:  "checkpoint",
		short: "Look into the checkpoints of a pipeline, or remove them.",
		sub: []*command{
			{
				name:  "show",
				args:  "[--all] DIR",
				short: "Print what a folder of checkpoints holds.",
				long: "DIR is the folder that the pipeline was given. It is only read, so a run may go on meanwhile.\n" +
					"Damaged files are named, and which checkpoint the next run goes on from is printed in full.",
				setup: setupShow,
			},
			{
				name:  "reset",
				args:  "[--yes] DIR",
				short: "Remove the checkpoints, so that the next run starts anew.",
				long: "DIR is the folder that the pipeline was given. Nothing is removed while a run holds it. What the\n" +
					"sinks have written stays: the next run may write it again.",
				setup: setupReset,
			},
		},
	}
}

func setupShow(flags *flag.FlagSet) action {
	all := flags.Bool("all", false, "print every checkpoint in full")
	return show(all)
}

func setupReset(flags *flag.FlagSet) action {
	yes := flags.Bool("yes", false, "do not ask")
	return reset(yes)
}

// oneFolder returns the only argument.
func oneFolder(args []string) (string, error) {
	if len(args) != 1 || args[0] == "" {
		return "", &usageError{fmt.Sprintf("needs one folder, not %d", len(args))}
	}
	return args[0], nil
}

// plain returns a text as it is if a terminal shows it so, and quoted if not.
func plain(s string) string {
	odd := func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.Quote(s)
	}
	return s
}

// bytesText returns a size for people.
func bytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, prefix := float64(n), ""
	for _, prefix = range []string{"Ki", "Mi", "Gi", "Ti"} {
		if value /= unit; value < unit {
			break
		}
	}
	return fmt.Sprintf("%.1f %sB", value, prefix)
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
