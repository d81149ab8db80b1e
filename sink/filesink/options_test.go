package filesink

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocsOfOptionsNameTheirDefaults: the constants and what the docs say are the same.
func TestDocsOfOptionsNameTheirDefaults(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(gotoken.NewFileSet(), "options.go", nil, parser.ParseComments)
	require.NoError(t, err)
	docs := map[string]string{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
			docs[f.Name.Name] = f.Doc.Text()
			require.Contains(t, f.Doc.Text(), "efault", "%s says what is without it", f.Name.Name)
		}
	}
	require.EqualValues(t, 262_144, defaultBlockBytes)
	require.Contains(t, docs["BlockBytes"], "The default is 262,144.")
	require.EqualValues(t, 0o644, defaultMode)
	require.Contains(t, docs["Mode"], "The default is 0644.")
	require.Equal(t, ',', defaultComma)
	require.Contains(t, docs["Comma"], "The default is ','.")
	require.Equal(t, config{blockBytes: defaultBlockBytes, mode: defaultMode, comma: defaultComma, fsys: defaultConfig().fsys}, defaultConfig())
}
