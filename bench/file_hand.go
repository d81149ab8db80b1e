package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/runnel-go/runnel/internal/codec"
)

const fileBuffer = 256 << 10

const csvHeader = "id,date,delay,distance,origin,destination\n"

// decodeFlight is the decoder that Runnel uses too.
var decodeFlight = codec.Decoder[flight]()

func appendRow(dst []byte, f *flight) []byte {
	dst = append(strconv.AppendInt(dst, int64(f.ID), 10), ',')
	dst = append(appendCell(dst, f.Date), ',')
	dst = append(strconv.AppendInt(dst, int64(f.Delay), 10), ',')
	dst = append(strconv.AppendInt(dst, int64(f.Distance), 10), ',')
	dst = append(appendCell(dst, f.Origin), ',')
	return append(appendCell(dst, f.Destination), '\n')
}

// appendCell appends text in the form of RFC 4180.
func appendCell(dst []byte, s string) []byte {
	if !strings.ContainsAny(s, ",\"\r\n") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(s, `"`, `""`)...)
	return append(dst, '"')
}

// convertInOrder is one loop: read a line, decode it, write a row.
func convertInOrder(in, out string) error {
	return withFiles(in, out, func(src *os.File, dst *os.File) error {
		r := bufio.NewReaderSize(src, fileBuffer)
		w := bufio.NewWriterSize(dst, fileBuffer)
		if _, err := w.WriteString(csvHeader); err != nil {
			return err
		}
		var f flight
		for number := 1; ; number++ {
			line, err := r.ReadSlice('\n')
			if err == io.EOF && len(line) == 0 {
				return w.Flush()
			}
			if err != nil && err != io.EOF {
				return fmt.Errorf("line %d: %w", number, err)
			}
			if err := decodeFlight(line, &f); err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
			if !userLate(&f) {
				continue
			}
			if _, err := w.Write(appendRow(w.AvailableBuffer(), &f)); err != nil {
				return err
			}
		}
	})
}

func withFiles(in, out string, f func(src, dst *os.File) error) error {
	src, err := os.Open(in)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.Create(out)
	if err != nil {
		return err
	}
	return errors.Join(f(src, dst), dst.Close())
}

// part is a piece of the input that ends with a line, and the rows made of it.
type part struct {
	text, rows []byte
	ready      chan error // holds one element when the rows are there
}

func newPart() *part {
	return &part{text: make([]byte, 0, fileBuffer), ready: make(chan error, 1)}
}

// convertParallel reads pieces of whole lines, has workers convert them, and writes the rows in the order of the pieces.
func convertParallel(in, out string, workers int) error {
	return withFiles(in, out, func(src, dst *os.File) error {
		if _, err := dst.WriteString(csvHeader); err != nil {
			return err
		}
		g, ctx := errgroup.WithContext(context.Background())
		todo, ordered := make(chan *part, workers), make(chan *part, 2*workers)
		spare := make(chan *part, 4*workers)
		g.Go(func() error {
			defer close(todo)
			defer close(ordered)
			return readParts(ctx, src, spare, func(p *part) error {
				return errors.Join(send(ctx, ordered, p), send(ctx, todo, p))
			})
		})
		for range workers {
			g.Go(func() error {
				for p := range todo {
					p.ready <- p.convert()
				}
				return nil
			})
		}
		g.Go(func() error { return writeParts(ctx, dst, ordered, spare) })
		return g.Wait()
	})
}

// readParts fills one buffer after another; what follows the last line feed goes to the start of the next.
func readParts(ctx context.Context, src io.Reader, spare <-chan *part, emit func(*part) error) error {
	var rest []byte
	for {
		p := take(spare, newPart)
		p.text = append(p.text[:0], rest...)
		n, err := io.ReadFull(src, p.text[len(p.text):cap(p.text)])
		p.text = p.text[:len(p.text)+n]
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return err
		}
		if !last {
			end := bytes.LastIndexByte(p.text, '\n') + 1
			if end == 0 {
				return bufio.ErrTooLong
			}
			rest = append(rest[:0], p.text[end:]...)
			p.text = p.text[:end]
		}
		if err := emit(p); err != nil || last {
			return err
		}
	}
}

func (p *part) convert() error {
	p.rows = p.rows[:0]
	var f flight
	for text := p.text; len(text) > 0; {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if err := decodeFlight(line, &f); err != nil {
			return err
		}
		if userLate(&f) {
			p.rows = appendRow(p.rows, &f)
		}
	}
	return nil
}

func writeParts(ctx context.Context, dst io.Writer, ordered <-chan *part, spare chan<- *part) error {
	for p := range ordered {
		select {
		case err := <-p.ready:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		if _, err := dst.Write(p.rows); err != nil {
			return err
		}
		give(spare, p)
	}
	return nil
}
