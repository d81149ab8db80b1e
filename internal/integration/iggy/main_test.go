// Package iggy holds tests of pipelines over Apache Iggy that kill processes, servers and connections.
package iggy

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// copyFrom is the variable that makes the test binary a process that copies numbers, of the server that it names.
const copyFrom = "RUNNEL_TEST_IGGY"

func TestMain(m *testing.M) {
	if address := os.Getenv(copyFrom); address != "" {
		if err := copyUntilStdinEnds(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
