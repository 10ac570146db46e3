package workloads

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

// MaxKeys is the most keys that a key set may hold.
const MaxKeys = math.MaxInt32

// A KeySet is a list of distinct keys. A key is any string of bytes; it need not
// be text.
type KeySet interface {
	// Name tells one key set from another in a record: its kind and size, such
	// as "seq:1000000", "uuid:1000000" or "file:domains.txt:10000".
	Name() string

	// Len returns the number of keys.
	Len() int

	// Key returns the key of that rank, from 0 to Len()-1, in constant time and
	// with one allocation at most.
	Key(rank int) string
}

// Prefix stands before the number in the keys of "seq:COUNT" and "padded:COUNT".
const Prefix = "user:"

// defaultSeed is the seed of "url:COUNT", "random:COUNT" and "uuid:COUNT".
const defaultSeed = 1

// sequential holds the keys prefix+from, prefix+(from+1), ...
type sequential struct {
	name     string
	prefix   string
	from, to int
	width    int // of the numbers, to which zeros fill them up
}

// Sequential returns the keys prefix+from to prefix+(to-1), numbers in decimal.
// Its name is "seq:COUNT" when the prefix is [Prefix] and from is 0, and
// "seq:PREFIX:FROM:TO" otherwise. It panics unless 0 <= from <= to and there are
// no more than MaxKeys.
func Sequential(prefix string, from, to int) KeySet {
	return numbered("seq", prefix, from, to, 0)
}

// padded is like [Sequential] with numbers as wide as the last of them.
func padded(prefix string, from, to int) KeySet {
	return numbered("padded", prefix, from, to, len(strconv.Itoa(to-1)))
}

func numbered(kind, prefix string, from, to, width int) KeySet {
	if from < 0 || to < from || to-from > MaxKeys {
		panic(fmt.Sprintf("workloads: sequential keys from %d to %d", from, to))
	}
	name := fmt.Sprintf("%s:%s:%d:%d", kind, prefix, from, to)
	if prefix == Prefix && from == 0 {
		name = fmt.Sprintf("%s:%d", kind, to)
	}
	return sequential{name, prefix, from, to, width}
}

func (s sequential) Name() string { return s.name }
func (s sequential) Len() int     { return s.to - s.from }

func (s sequential) Key(rank int) string {
	var digits [20]byte
	return s.prefix + string(s.number(&digits, rank))
}

func (s sequential) appendKey(key []byte, rank int) []byte {
	var digits [20]byte
	return append(append(key, s.prefix...), s.number(&digits, rank)...)
}

// number writes the decimal digits behind the prefix.
func (s sequential) number(digits *[20]byte, rank int) []byte {
	checkRank(rank, s.Len())
	at := len(digits)
	for number := s.from + rank; number > 0 || at == len(digits); number /= 10 {
		at--
		digits[at] = '0' + byte(number%10)
	}
	for len(digits)-at < s.width {
		at--
		digits[at] = '0'
	}
	return digits[at:]
}

// The keys of "prefix:COUNT" have that many bytes in common.
const (
	defaultPrefixBytes = 64
	maxPrefixBytes     = 4096
)

// prefixed returns the numbers below count behind the same bytes, which read like
// the path that a service puts before its keys.
func prefixed(count, bytes int) KeySet {
	const path = "production/eu-west-1/orders/cache/v2/"
	s := sequential{prefix: strings.Repeat(path, 1+bytes/len(path))[:bytes], to: count}
	s.name = withParameter("prefix", count, bytes, defaultPrefixBytes)
	return s
}

// defaultTagged is how many keys of "tag:COUNT" have the same tag.
const defaultTagged = 10

// tagged holds keys with a tag in braces, each of them the tag of perTag keys in
// a row. A cluster that places keys by their tag, as Redis does, keeps those
// together.
type tagged struct {
	name          string
	count, perTag int
}

func (s tagged) Name() string { return s.name }
func (s tagged) Len() int     { return s.count }

func (s tagged) Key(rank int) string {
	var buffer [96]byte
	return string(s.appendKey(buffer[:0], rank))
}

func (s tagged) appendKey(key []byte, rank int) []byte {
	checkRank(rank, s.count)
	key = append(key, "{user:"...)
	key = strconv.AppendInt(key, int64(rank/s.perTag), 10)
	key = append(key, "}:item:"...)
	return strconv.AppendInt(key, int64(rank%s.perTag), 10)
}

// generated holds keys that are made from their rank and a seed.
type generated struct {
	name  string
	count int
	salt  [4]uint64 // from the seed
	form  form
}

// A form is how a key is made from its rank. It is no function, whose buffer the
// heap would have to hold.
type form uint8

const (
	randomForm form = iota
	uuidForm
	urlForm
)

func generate(kind string, count int, seed uint64, form form) *generated {
	if count < 0 || count > MaxKeys {
		panic(fmt.Sprintf("workloads: %d %s keys", count, kind))
	}
	g := &generated{name: fmt.Sprintf("%s:%d", kind, count), count: count, form: form}
	r := Rand(seed, kind)
	for i := range g.salt {
		g.salt[i] = r.Uint64()
	}
	return g
}

func (g *generated) Name() string { return g.name }
func (g *generated) Len() int     { return g.count }

func (g *generated) Key(rank int) string {
	var buffer [96]byte
	return string(g.appendKey(buffer[:0], rank))
}

func (g *generated) appendKey(key []byte, rank int) []byte {
	checkRank(rank, g.count)
	switch g.form {
	case randomForm:
		return appendRandom(key, &g.salt, uint64(rank))
	case uuidForm:
		return appendUUID(key, &g.salt, uint64(rank))
	default:
		return appendURL(key, &g.salt, uint64(rank))
	}
}

// Random returns count keys of 16 hexadecimal digits. They look random and are
// distinct, because a key is a one-to-one function of its rank. The name is
// "random:COUNT"; it leaves out the seed, which a record carries apart. It panics
// when count is negative or above MaxKeys.
func Random(count int, seed uint64) KeySet {
	return generate("random", count, seed, randomForm)
}

func appendRandom(key []byte, salt *[4]uint64, rank uint64) []byte {
	var raw [8]byte
	binary.BigEndian.PutUint64(raw[:], scramble(rank, salt[0], salt[1], 64))
	return hex.AppendEncode(key, raw[:])
}

// UUID returns count keys that have the form of random (version 4) UUIDs, such as
// "0b6ef5c4-9d8a-4f0c-a1c3-5be2d1c7f0a9". They are distinct, because the 62 bits
// after the variant are a one-to-one function of the rank; the other 60 bits are
// a second such function. The name is "uuid:COUNT"; it leaves out the seed, which
// a record carries apart. It panics when count is negative or above MaxKeys.
func UUID(count int, seed uint64) KeySet {
	return generate("uuid", count, seed, uuidForm)
}

func appendUUID(key []byte, salt *[4]uint64, rank uint64) []byte {
	high := scramble(rank, salt[2], salt[3], 64)
	low := scramble(rank, salt[0], salt[1], 62)
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], high&^uint64(0xf000)|0x4000)
	binary.BigEndian.PutUint64(raw[8:], low|1<<63)
	for i, b := range raw {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			key = append(key, '-')
		}
		const digits = "0123456789abcdef"
		key = append(key, digits[b>>4], digits[b&15])
	}
	return key
}

// urls returns count keys that look like the addresses of a shop's pages, such as
// "https://www.example.com/garden/blue-lamp-2938475612?page=3". They are distinct,
// because the number is a one-to-one function of the rank.
func urls(count int, seed uint64) KeySet {
	return generate("url", count, seed, urlForm)
}

// The words of the addresses. There are powers of two of each.
var (
	hosts    = [4]string{"www.example.com", "shop.example.com", "m.example.com", "example.org"}
	sections = [8]string{"books", "garden", "kitchen", "lighting", "music", "shoes", "tools", "toys"}
	colours  = [8]string{"black", "blue", "brown", "green", "grey", "red", "white", "yellow"}
	things   = [8]string{"bag", "box", "chair", "clock", "cup", "lamp", "shelf", "table"}
)

func appendURL(key []byte, salt *[4]uint64, rank uint64) []byte {
	x := scramble(rank, salt[2], salt[3], 64)
	key = append(key, "https://"...)
	key = append(key, hosts[x%4]...)
	key = append(key, '/')
	key = append(key, sections[x>>2%8]...)
	key = append(key, '/')
	key = append(key, colours[x>>5%8]...)
	key = append(key, '-')
	key = append(key, things[x>>8%8]...)
	key = append(key, '-')
	key = strconv.AppendUint(key, scramble(rank, salt[0], salt[1], 32), 10)
	if page := x >> 11 % 16; page > 8 { // most addresses have no query
		key = append(key, "?page="...)
		key = strconv.AppendUint(key, page-7, 10)
	}
	return key
}

// scramble maps the numbers below 2^width one to one onto themselves, another way
// for each pair of salts. Each step can be undone: the exclusive or with a salt
// by itself, the exclusive or with a right shift from the top bits down, and the
// multiplication modulo 2^width because the factor is odd. The factors and
// shifts are Stafford's variant 13 of the MurmurHash3 finaliser.
func scramble(x, salt0, salt1 uint64, width uint) uint64 {
	mask := uint64(1)<<width - 1
	for _, salt := range [2]uint64{salt0, salt1} {
		x = (x ^ salt) & mask
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9 & mask
		x = (x ^ x>>27) * 0x94d049bb133111eb & mask
		x ^= x >> 31
	}
	return x
}

func checkRank(rank, n int) {
	if uint(rank) >= uint(n) {
		panic(fmt.Sprintf("workloads: rank %d of %d keys", rank, n))
	}
}

// kinds lists what ParseKeys takes, as its error shows it.
const kinds = "seq:PREFIX:FROM:TO, padded:PREFIX:FROM:TO, prefix:COUNT:BYTES, tag:COUNT:KEYS, url:COUNT:SEED, random:COUNT:SEED or uuid:COUNT:SEED"

// ParseKeys makes the key set that the spec names:
//
//	seq:COUNT               seq:user::0:COUNT
//	seq:PREFIX:FROM:TO      PREFIX followed by FROM to TO-1; PREFIX may hold colons
//	padded:COUNT            padded:user::0:COUNT
//	padded:PREFIX:FROM:TO   the same, the numbers filled up with zeros to one width
//	prefix:COUNT[:BYTES]    numbers behind the same BYTES bytes, 64 unless given
//	tag:COUNT[:KEYS]        {user:T}:item:I, KEYS keys a tag, 10 unless given
//	url:COUNT[:SEED]        addresses of web pages; the seed is 1 unless given
//	random:COUNT[:SEED]     see [Random]; the seed is 1 unless given
//	uuid:COUNT[:SEED]       see [UUID]; the seed is 1 unless given
//
// The set's name is the spec in its shortest form, so that ParseKeys of the name
// makes the same set again.
func ParseKeys(spec string) (KeySet, error) {
	kind, rest, found := strings.Cut(spec, ":")
	if !found {
		rest = ""
	}
	switch kind {
	case "seq":
		return parseSequential(spec, kind, rest, Sequential)
	case "padded":
		return parseSequential(spec, kind, rest, padded)
	case "prefix":
		return parseWithParameter(spec, rest, "BYTES", defaultPrefixBytes, maxPrefixBytes, prefixed)
	case "tag":
		return parseWithParameter(spec, rest, "KEYS", defaultTagged, MaxKeys, func(count, perTag int) KeySet {
			return tagged{withParameter("tag", count, perTag, defaultTagged), count, perTag}
		})
	case "url":
		return parseGenerated(spec, rest, urls)
	case "random":
		return parseGenerated(spec, rest, Random)
	case "uuid":
		return parseGenerated(spec, rest, UUID)
	}
	return nil, fmt.Errorf("keys %q: unknown kind %q, want %s", spec, kind, kinds)
}

// withParameter returns the name "KIND:COUNT:PARAMETER", without the parameter
// when it is the default.
func withParameter(kind string, count, parameter, byDefault int) string {
	if parameter == byDefault {
		return fmt.Sprintf("%s:%d", kind, count)
	}
	return fmt.Sprintf("%s:%d:%d", kind, count, parameter)
}

// parseWithParameter reads COUNT and a whole number from 1 to most that may
// follow it.
func parseWithParameter(spec, rest, field string, byDefault, most int, make func(count, parameter int) KeySet) (KeySet, error) {
	countField, parameterField, given := strings.Cut(rest, ":")
	count, err := parseCount(spec, "COUNT", countField)
	if err != nil {
		return nil, err
	}
	parameter := byDefault
	if given {
		parameter, err = parseNumber(spec, field, parameterField)
		if err != nil {
			return nil, err
		}
		if parameter < 1 || parameter > most {
			return nil, fmt.Errorf("keys %q: %s is %d, want 1 to %d", spec, field, parameter, most)
		}
	}
	return make(count, parameter), nil
}

func parseSequential(spec, kind, rest string, make func(prefix string, from, to int) KeySet) (KeySet, error) {
	fields := strings.Split(rest, ":")
	if len(fields) == 1 {
		count, err := parseCount(spec, "COUNT", rest)
		if err != nil {
			return nil, err
		}
		return make(Prefix, 0, count), nil
	}
	if len(fields) == 2 {
		return nil, fmt.Errorf("keys %q: want %s:PREFIX:FROM:TO or %s:COUNT", spec, kind, kind)
	}
	last := len(fields) - 1
	from, err := parseNumber(spec, "FROM", fields[last-1])
	if err != nil {
		return nil, err
	}
	to, err := parseNumber(spec, "TO", fields[last])
	switch {
	case err != nil:
		return nil, err
	case to <= from:
		return nil, fmt.Errorf("keys %q: no keys, TO (%d) must be above FROM (%d)", spec, to, from)
	case to-from > MaxKeys:
		return nil, fmt.Errorf("keys %q: %d keys, at most %d are possible", spec, to-from, MaxKeys)
	}
	return make(strings.Join(fields[:last-1], ":"), from, to), nil
}

func parseGenerated(spec, rest string, make func(int, uint64) KeySet) (KeySet, error) {
	countField, seedField, seeded := strings.Cut(rest, ":")
	count, err := parseCount(spec, "COUNT", countField)
	if err != nil {
		return nil, err
	}
	if !seeded {
		return make(count, defaultSeed), nil
	}
	seed, err := strconv.ParseUint(seedField, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("keys %q: SEED %q is not a whole number from 0 to %d", spec, seedField, uint64(math.MaxUint64))
	}
	set := make(count, seed).(*generated)
	if seed != defaultSeed {
		set.name = fmt.Sprintf("%s:%d", set.name, seed)
	}
	return set, nil
}

func parseCount(spec, field, text string) (int, error) {
	count, err := parseNumber(spec, field, text)
	switch {
	case err != nil:
		return 0, err
	case count == 0:
		return 0, fmt.Errorf("keys %q: %s is 0, ask for at least one key", spec, field)
	case count > MaxKeys:
		return 0, fmt.Errorf("keys %q: %s is %d, at most %d keys are possible", spec, field, count, MaxKeys)
	}
	return count, nil
}

func parseNumber(spec, field, text string) (int, error) {
	number, err := strconv.ParseUint(text, 10, strconv.IntSize-1)
	if err != nil {
		return 0, fmt.Errorf("keys %q: %s %q is not a whole number from 0 to %d", spec, field, text, math.MaxInt)
	}
	return int(number), nil
}

// Hashes returns the hash of each key, by rank. It calls hash from all cores at
// once; the answer does not depend on how many there are. The function may not
// keep the text of a key beyond the call.
func Hashes(set KeySet, hash func(string) uint64) []uint64 {
	hashes := make([]uint64, set.Len())
	made, _ := set.(interface {
		appendKey(key []byte, rank int) []byte
	})
	workers := min(runtime.GOMAXPROCS(0), 1+len(hashes)/4096)
	var wait sync.WaitGroup
	for w := range workers {
		from, to := len(hashes)*w/workers, len(hashes)*(w+1)/workers
		wait.Go(func() {
			if made == nil {
				for rank := from; rank < to; rank++ {
					hashes[rank] = hash(set.Key(rank))
				}
				return
			}
			var key []byte
			for rank := from; rank < to; rank++ {
				key = made.appendKey(key[:0], rank)
				// The string lives no longer than the call, and key rests meanwhile.
				hashes[rank] = hash(unsafe.String(unsafe.SliceData(key), len(key)))
			}
		})
	}
	wait.Wait()
	return hashes
}
