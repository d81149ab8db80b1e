package broker_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedFolder); dir != "" {
		sendUntilKilled(dir)
	}
	goleak.VerifyTestMain(m)
}
