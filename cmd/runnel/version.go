package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
)

func versionCommand() *command {
	return &command{
		name:  "version",
		short: "Print the version of this program.",
		setup: func(*flag.FlagSet) action { return printVersion },
	}
}

func printVersion(_ context.Context, c console, args []string) error {
	if len(args) > 0 {
		return &usageError{"takes no argument"}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	_, err := fmt.Fprintf(c.out, "runnel %s %s %s/%s\n", version(info), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version returns the version of the module, or the commit that it was built from, as far as the build knows them.
func version(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+changes"
		}
	}
	if commit == "" {
		return "devel"
	}
	return "devel-" + commit + changed
}
