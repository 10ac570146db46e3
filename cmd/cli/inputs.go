package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ringbench/ringbench/harness"
	"github.com/ringbench/ringbench/results"
)

// inputsOf returns the digests of the files that the spec names.
func inputsOf(spec *harness.Spec) (map[string]string, error) {
	var inputs map[string]string
	for _, path := range []string{spec.NodesFile, spec.KeysFile} {
		if path == "" {
			continue
		}
		digest, err := digestOf(path)
		if err != nil {
			return nil, err
		}
		if inputs == nil {
			inputs = map[string]string{}
		}
		inputs[path] = digest
	}
	return inputs, nil
}

func digestOf(path string) (string, error) {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s is not there, a run is resumed in the folder in which it was begun", path)
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no file that a resumed run could read again, name one", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sameInputs refuses to go on with a run whose files hold something else by now:
// its records would speak of two clusters, or of two sets of keys, under one name.
func sameInputs(begun results.Run, spec *harness.Spec) error {
	now, err := inputsOf(spec)
	if err != nil {
		return err
	}
	for path, digest := range begun.Inputs {
		if now[path] != digest {
			return fmt.Errorf("%s is not what it was when the run began, put that back or begin a new run", path)
		}
	}
	return nil
}
