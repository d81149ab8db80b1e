package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// command is a command, or a group of them if it has sub.
type command struct {
	name string
	// args is what follows the name, as usage shows it.
	args string
	// short says in a sentence what it does; long, if there is more to say, what one must know to use it.
	short, long string
	sub         []*command
	// setup declares the flags and returns what runs once they are read, with the other arguments.
	setup func(*flag.FlagSet) action
}

// action does what a command is for.
type action func(ctx context.Context, c console, args []string) error

// usageError says what is wrong with the command line; nothing, if usage was printed instead.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// execute runs the command that args name and returns the exit code.
func (cmd *command) execute(ctx context.Context, args []string, c console) int {
	found, path, rest := cmd.find(args)
	err := found.try(ctx, path, rest, c)
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case !errors.As(err, &usage):
		fmt.Fprintf(c.err, "%s: %v\n", path, err)
		return exitFailure
	case usage.text != "":
		fmt.Fprintf(c.err, "%s: %v\nRun '%s -h' for usage.\n", path, err, path)
	}
	return exitUsage
}

// find walks down the tree as far as args name commands.
func (cmd *command) find(args []string) (found *command, path string, rest []string) {
	found, path = cmd, cmd.name
	for len(args) > 0 {
		next := found.child(args[0])
		if next == nil {
			break
		}
		found, path, args = next, path+" "+next.name, args[1:]
	}
	return found, path, args
}

func (cmd *command) child(name string) *command {
	for _, sub := range cmd.sub {
		if sub.name == name {
			return sub
		}
	}
	return nil
}

// try runs one command, of which path is the full name.
func (cmd *command) try(ctx context.Context, path string, args []string, c console) error {
	if cmd.sub != nil {
		return cmd.group(ctx, path, args, c)
	}
	flags := flag.NewFlagSet(path, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	run := cmd.setup(flags)
	rest, err := parse(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		return cmd.usage(path, c.out)
	}
	if err != nil {
		return &usageError{err.Error()}
	}
	return run(ctx, c, rest)
}

// group answers for a group that was given no command of its own.
func (cmd *command) group(ctx context.Context, path string, args []string, c console) error {
	if len(args) == 0 {
		if err := cmd.usage(path, c.err); err != nil {
			return err
		}
		return &usageError{}
	}
	switch args[0] {
	case "-h", "-help", "--help":
		return cmd.usage(path, c.out)
	case "help":
		found, below, rest := cmd.find(args[1:])
		if len(rest) > 0 {
			return unknown(rest[0])
		}
		return found.usage(path+strings.TrimPrefix(below, cmd.name), c.out)
	case "-version", "--version":
		if sub := cmd.child("version"); sub != nil {
			return sub.try(ctx, path+" version", args[1:], c)
		}
	}
	return unknown(args[0])
}

func unknown(name string) error {
	if strings.HasPrefix(name, "-") {
		return &usageError{"unknown flag " + name}
	}
	return &usageError{fmt.Sprintf("unknown command %q", name)}
}

// parse reads flags wherever they stand and returns the other arguments. What follows "--" is no flag.
func parse(flags *flag.FlagSet, args []string) ([]string, error) {
	var rest []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		left := flags.Args()
		read := len(args) - len(left)
		if len(left) == 0 || read > 0 && args[read-1] == "--" {
			return append(rest, left...), nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

// usage prints how a command is used.
func (cmd *command) usage(path string, w io.Writer) error {
	text := &strings.Builder{}
	fmt.Fprintf(text, "%s\n\nUsage:\n", cmd.short)
	if cmd.sub != nil {
		cmd.usageOfGroup(path, text)
	} else {
		cmd.usageOfOne(path, text)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (cmd *command) usageOfGroup(path string, text *strings.Builder) {
	fmt.Fprintf(text, "  %s COMMAND\n\nCommands:\n", path)
	table := tabwriter.NewWriter(text, 0, 0, 3, ' ', 0)
	for _, sub := range cmd.sub {
		fmt.Fprintf(table, "  %s\t%s\n", sub.name, sub.short)
	}
	table.Flush()
	fmt.Fprintf(text, "\nRun '%s COMMAND -h' for more about a command.\n", path)
}

func (cmd *command) usageOfOne(path string, text *strings.Builder) {
	fmt.Fprintf(text, "  %s\n", strings.TrimSpace(path+" "+cmd.args))
	if cmd.long != "" {
		fmt.Fprintf(text, "\n%s\n", cmd.long)
	}
	flags := flag.NewFlagSet(path, flag.ContinueOnError)
	cmd.setup(flags)
	title := "\nFlags:\n"
	flags.VisitAll(func(f *flag.Flag) {
		fmt.Fprintf(text, "%s  --%s   %s\n", title, f.Name, f.Usage)
		title = ""
	})
}
