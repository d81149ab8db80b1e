package iggyserver

import (
	"context"

	"github.com/runnel-go/runnel/transport/wire"
)

// PanicAt makes requests for a command panic.
func PanicAt(command wire.Command) Option {
	return option(func(c *config) {
		c.handle = func(ctx context.Context, r *request) ([]byte, bool) {
			if h, _, err := wire.DecodeRequest(r.frame); err == nil && h.Carries() == command {
				panic("as asked")
			}
			return handle(ctx, r)
		}
	})
}
