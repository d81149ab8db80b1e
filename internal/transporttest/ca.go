package transporttest

import (
	"crypto/tls"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// CAFile writes a certificate that is its own root to a file, in PEM form, and returns its name.
func CAFile(t *testing.T, certificate tls.Certificate) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	require.NoError(t, os.WriteFile(name, text, 0o600))
	return name
}
