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
	set      map[string]bool // the keys that the string has
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
	return d.checkTLS()
}

// checkTLS refuses keys that say how to verify a server for a link that would go without TLS, unless tls=false does so by
// name. Who names a certificate or its file wants it verified, unless the string says otherwise.
func (d *draft) checkTLS() error {
	for _, key := range []string{"tls_domain", "tls_ca_file", "tls_validate_certificate"} {
		if d.set[key] && !d.set["tls"] {
			return broken("option "+key, "has no effect without tls=true, and nothing is encrypted then")
		}
	}
	if (d.set["tls_domain"] || d.set["tls_ca_file"]) && !d.set["tls_validate_certificate"] {
		d.tlsCheck = true
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
		if d.set == nil {
			d.set = map[string]bool{}
		}
		d.set[name] = true
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
