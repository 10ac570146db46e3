package workloads

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

// packBlocks packs the content as xz in blocks of so many bytes, as xz -T does.
func packBlocks(t *testing.T, content string, block int64) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := xz.WriterConfig{BlockSize: block}.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func TestXZDataCutAnywhereAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("tries every length")
	}
	content := strings.Repeat("some key\n", 40)
	stream := packBlocks(t, content, 100)
	two := append(append(append([]byte{}, stream...), 0, 0, 0, 0), stream...) // with padding between
	for _, packed := range [][]byte{stream, two} {
		for cut := 1; cut < len(packed); cut++ {
			if end := packed[:cut]; bytes.Equal(end, stream) || bytes.HasPrefix(end, stream) && endsXZ(end) {
				continue // a whole stream, with or without its padding
			}
			_, err := ReadKeys(write(t, "a.xz", packed[:cut]), FileOptions{})
			if err == nil || !strings.Contains(err.Error(), "the xz data end too early") {
				t.Fatalf("cut after %d of %d bytes: error %v", cut, len(packed), err)
			}
		}
	}
}

func TestXZStreamsAndTheirPaddingAreReadToTheEnd(t *testing.T) {
	stream := packBlocks(t, "one\ntwo\nthree\n", 5)
	padded := append(append(append([]byte{}, stream...), make([]byte, 16)...), stream...)
	r, err := xz.NewReader(&wholeXZ{r: bytes.NewReader(append(padded, 0, 0, 0, 0))})
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if string(b) != "one\ntwo\nthree\none\ntwo\nthree\n" || err != nil {
		t.Errorf("read %q, %v", b, err)
	}
	if _, err := io.ReadAll(&wholeXZ{r: strings.NewReader("no footer at the end")}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
}
