package crawl

import (
	"encoding/hex"
	"reflect"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/codec"
)

// What batches keep in their working files is read by later versions: a worker may be replaced while a batch is fetched. The bytes
// are those that an earlier version wrote.
func TestKeptForms(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	link := Outlink{URL: "http://a.example/1", Hop: HopLink, Context: "a/@href", Anchor: "an anchor", Block: 2, TagPath: "html body a", Rel: "next"}
	link.Level, link.Prior = "thread", 0.5
	fetched := Outcome{URL: "http://a.example/", Kind: OutcomeRetry, Status: 503, Reason: "busy", Bytes: 7, After: at, Visit: Visit{ETag: "e"}}
	of := fetched
	of.Kind, of.Status, of.Reason = OutcomeDone, 200, "r"
	for _, test := range []struct {
		name      string
		value     any
		cbor      string
		reordered bool // its keys stand in another order now, which does not matter to readers
	}{
		{"outlink", link, "a96375726c72687474703a2f2f612e6578616d706c652f3163686f70184c67636f6e7465787467612f406872656666616e63686f7269616e20616e63686f7265626c6f63" +
			"6b02687461675f706174686b68746d6c20626f647920616372656c646e657874656c6576656c66746872656164657072696f72fb3fe0000000000000", false},
		{"exchange", Exchange{Kind: ExchangePage, URL: "http://a.example/", Claim: "a.example-1", Started: at, Outcome: fetched},
			"a5646b696e6464706167656375726c71687474703a2f2f612e6578616d706c652f65636c61696d6b612e6578616d706c652d31677374617274656474323032362d30312d30" +
				"325430333a30343a30355a676f7574636f6d65a76375726c71687474703a2f2f612e6578616d706c652f646b696e64657265747279667374617475731901f766726561736f" +
				"6e64627573796562797465730765616674657274323032362d30312d30325430333a30343a30355a657669736974a164657461676165", false},
		{"outcome of a page", PageOutcome{Outcome: of, Score: 0.5, Revisit: true, Level: "thread", App: "phpbb", Prints: []byte{1}, Worth: 0.25, PageFeatures: []byte{2}},
			"ae6375726c71687474703a2f2f612e6578616d706c652f646b696e6464646f6e656673746174757318c866726561736f6e61726562797465730765616674657274323032362" +
				"d30312d30325430333a30343a30355a6573636f7265fb3fe0000000000000657669736974a1646574616761656772657669736974f5656c6576656c6674687265616463617070" +
				"657068706262667072696e7473410165776f727468fb3fd0000000000000647365656e4102", true},
	} {
		raw, err := codec.Marshal(test.value)
		if err != nil || !test.reordered && hex.EncodeToString(raw) != test.cbor || len(raw) != hex.DecodedLen(len(test.cbor)) {
			t.Errorf("%s is\n%x, %v, want\n%s", test.name, raw, err, test.cbor)
		}
		kept, err := hex.DecodeString(test.cbor)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range [][]byte{kept, raw} {
			back := reflect.New(reflect.TypeOf(test.value))
			if err := codec.Unmarshal(form, back.Interface()); err != nil || !reflect.DeepEqual(back.Elem().Interface(), test.value) {
				t.Errorf("%s comes back as %+v, %v", test.name, back.Elem(), err)
			}
		}
	}
}
