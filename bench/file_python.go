package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
)

//go:embed file_polars.py
var polarsScript string

//go:embed file_duckdb.py
var duckdbScript string

// pythons returns the contenders of file that are Python packages, each with one and with two threads, as far as they are installed.
func pythons(python, in, out string) (list []contender) {
	for _, p := range []struct{ module, script string }{{"polars", polarsScript}, {"duckdb", duckdbScript}} {
		version, err := exec.Command(python, "-c", "import "+p.module+" as m; print(m.__version__, end='')").Output()
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s has no %s: left out\n", python, p.module)
			continue
		}
		for _, threads := range []string{"1", "2"} {
			list = append(list, process{
				label: fmt.Sprintf("%s %s, threads: %s", p.module, version, threads),
				argv:  []string{python, "-c", p.script, in, out, threads},
				env:   []string{"POLARS_MAX_THREADS=" + threads},
				out:   out,
			})
		}
	}
	return list
}
