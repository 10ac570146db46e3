package binomial

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The authors' program has a family of hashes of its own, which mixes too little to
// spread keys evenly, and stops after so few tries that six or more give its
// answers here. The path from tries to bucket is the paper's all the same.
func TestBucketsAreThoseOfTheAuthorsProgramOverItsHashes(t *testing.T) {
	data, err := os.ReadFile("testdata/binomial.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Source     string
		Placements []struct {
			Bytes  int
			N      uint64
			Bucket []uint64
		}
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Placements) == 0 {
		t.Fatal("no vectors")
	}
	for _, p := range v.Placements {
		mask := uint64(1)
		for mask < p.N-1 {
			mask = 2*mask + 1
		}
		var got []uint64
		for i := range p.Bucket {
			sum := md5.Sum(fmt.Appendf(nil, "key-%d", i))
			h := binary.BigEndian.Uint64(sum[:])
			if p.Bytes == 4 {
				h >>= 32
			}
			b, _ := bucket(h, p.N, mask, 6, authors(mask))
			got = append(got, b)
		}
		if diff := cmp.Diff(p.Bucket, got); diff != "" {
			t.Errorf("%d bytes, %d nodes (-want +got, %s):\n%s", p.Bytes, p.N, v.Source, diff)
		}
	}
}

// authors returns the family of the authors' program for the full tree of the mask.
func authors(mask uint64) family {
	rehash := func(h, seed uint64) uint64 {
		h = h*2862933555777941757 + 1
		return h * h * seed >> 32
	}
	return func(h uint64, i int) uint64 {
		if i > 0 {
			return rehash(h, 1<<(i-1)-1)
		}
		for ; i < 0; i++ {
			h = rehash(h, mask)
		}
		return h
	}
}
