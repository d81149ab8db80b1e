package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/runnel-go/runnel/checkpoint"
)

var errNotConfirmed = errors.New("not confirmed, so nothing was removed; --yes goes without asking")

func reset(yes *bool) action {
	return func(ctx context.Context, c console, args []string) error {
		folder, err := oneFolder(args)
		if err != nil {
			return err
		}
		if !*yes {
			if err := confirm(ctx, c, folder); err != nil {
				return err
			}
		}
		removed, err := checkpoint.Reset(ctx, folder)
		text := &strings.Builder{}
		for _, name := range removed {
			fmt.Fprintf(text, "removed %s\n", name)
		}
		if err == nil {
			fmt.Fprintf(text, "%s: %s removed; the next run starts anew\n", plain(folder), counted(len(removed), "file"))
		}
		_, outErr := io.WriteString(c.out, text.String())
		return errors.Join(err, outErr)
	}
}

// confirm asks whether what there is shall go.
func confirm(ctx context.Context, c console, folder string) error {
	infos, err := checkpoint.Inspect(ctx, folder)
	if err != nil {
		return err
	}
	kept, aside := split(infos)
	if len(infos) == 0 {
		return nil
	}
	question := headline(folder, kept)
	if len(aside) > 0 {
		question += fmt.Sprintf(", and %s set aside", counted(len(aside), "file"))
	}
	if _, err := fmt.Fprintf(c.err, "%s.\nRemove everything, so that the next run starts anew? [y/N] ", question); err != nil {
		return err
	}
	answer, err := bufio.NewReader(c.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errNotConfirmed
}
