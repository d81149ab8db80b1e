package dial

import (
	"strings"

	"github.com/runnel-go/runnel/transport"
)

// draft is a Config of which the options are being read.
type draft struct {
	Config
	tls      transport.TLS
	tlsOn    bool
	tlsCheck bool
}

// readOptions sets the defaults and then what the string has.
func (d *draft) readOptions(text string, given bool) error {
	keys := keysOf(d.Protocol)
	for _, k := range keys {
		if k.standard != none && !k.set(d, k.standard) {
			return broken("option "+k.name, "its default %s is not %s", k.standard, k.allowed)
		}
	}
	if !given {
		return nil
	}
	for option := range strings.SplitSeq(text, "&") {
		if err := d.readOption(option, keys); err != nil {
			return err
		}
	}
	return nil
}

func (d *draft) readOption(option string, keys []key) error {
	name, value, found := strings.Cut(option, "=")
	if !found {
		return broken("options", "each is key=value, with & between them")
	}
	for _, k := range keys {
		if k.name != name {
			continue
		}
		if !k.set(d, value) {
			return broken("option "+name, "%.60q is not %s", value, k.allowed)
		}
		return nil
	}
	return broken("options", "%.60q is none of %s", name, names(keys))
}

func names(keys []key) string {
	var all []string
	for _, k := range keys {
		all = append(all, k.name)
	}
	return strings.Join(all, ", ")
}

// config returns what was read. QUIC has no link without TLS, and TCP none whose certificate is not verified.
func (d *draft) config() Config {
	c := d.Config
	if d.tlsOn || d.Protocol == QUIC {
		set := d.tls
		set.SkipVerify = !d.tlsCheck && d.Protocol != TCP
		c.TLS = &set
	}
	return c
}
