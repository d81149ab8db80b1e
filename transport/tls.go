package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// TLS is how a client verifies a server. The zero value verifies its name against the roots of the system.
type TLS struct {
	// CAFile is a file of root certificates in PEM form. Empty means the roots of the system.
	CAFile string
	// ServerName is the name that the certificate must have. Empty means the host of the address.
	ServerName string
	// SkipVerify takes any certificate. Whoever can get between client and server then reads and changes all there is.
	SkipVerify bool
}

// errNoCertificate is returned for a file of root certificates that has none.
var errNoCertificate = errors.New("no certificate in PEM form")

// ErrTLS is the cause when a link with TLS cannot be configured: its files cannot be read. To dial again is of no use.
var ErrTLS = errors.New("TLS is not configured right")

// Config reads the root certificates and returns the configuration of a client that dials host. The oldest version of
// TLS is 1.2.
func (t TLS) Config(host string) (*tls.Config, error) {
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.SkipVerify, //nolint:gosec // asked for by name, and described as what it is
	}
	if config.ServerName == "" {
		config.ServerName = host
	}
	if t.CAFile == "" {
		return config, nil
	}
	pem, err := os.ReadFile(t.CAFile)
	if err != nil {
		return nil, fmt.Errorf("%w: root certificates: %w", ErrTLS, err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%w: root certificates: %s: %w", ErrTLS, t.CAFile, errNoCertificate)
	}
	return config, nil
}
