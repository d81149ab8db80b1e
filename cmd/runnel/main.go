// Command runnel looks after what pipelines leave on a machine, and serves what they can be tried with.
//
//	runnel iggy serve              run a server that speaks the protocol of Apache Iggy
//	runnel checkpoint show DIR     print what a folder of checkpoints holds
//	runnel checkpoint reset DIR    remove the checkpoints, so that the next run starts anew
//	runnel version                 print the version of this program
//	runnel help COMMAND            explain a command
//
// Its exit code is 0 after success, 1 after a failure, and 2 after a wrong command line.
package main

import (
	"context"
	"io"
	"os"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// console is where a command talks to its user.
type console struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	// An interrupt ends the process at once: commands may be cut short anywhere, unless they wait for one.
	os.Exit(root().execute(context.Background(), os.Args[1:], console{os.Stdin, os.Stdout, os.Stderr}))
}

// root is the tree of all commands.
func root() *command {
	return &command{
		name:  "runnel",
		short: "Runnel looks after what pipelines leave on a machine, and serves what they can be tried with.",
		sub: []*command{
			checkpointCommand(),
			iggyCommand(),
			versionCommand(),
		},
	}
}
