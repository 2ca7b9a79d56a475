package extract

import (
	"strings"
	"testing"
)

// TestProduct: of a page that sells one thing the texts and tables of that are the content, without other products, reviews and forms; a list of
// products has no such text.
func TestProduct(t *testing.T) {
	card := `<div class=c><a href=/x>Another kettle of copper</a><p>It boils in three minutes, and whistles.</p><button>Add to cart</button></div>`
	review := `<div class=o><time>3 May 2024</time><p>It has whistled in my kitchen for a year.</p></div>`
	menu := `<ul>` + strings.Repeat(`<li><a href=/m>Kettles and pans</a></li>`, 9) + `</ul><p>Free delivery above a certain sum of money.</p>`
	others := `<div><h2>Others</h2>` + strings.Repeat(card, 8) + `</div><div><h2>Opinions</h2>` + strings.Repeat(review, 3) + `</div>`
	own := `<div><h1>Kettle</h1><p>$20</p><form><p>Choose a colour for your kettle</p><button>Add to cart</button></form>` +
		`<h2>Sales</h2><p>Few</p><h2>Cold</h2><p>A kettle of steel with a handle that stays cold.</p><table><tr><td>Holds</td><td>2 l</td></tr></table></div>`
	want := "Cold|A kettle of steel with a handle that stays cold.|Holds|2 l"
	p := pageOf(t, menu+own+others)
	if got := marked(p, p.Segments(true)); got != want {
		t.Errorf("content of a product: %q, want %q", got, want)
	}
	if p := pageOf(t, menu+`<h1>Kettles</h1><p>All kettles of our shop, of steel and of copper, for each kind of stove.</p>`+others); p.sellsOne() {
		t.Error("a list of products is taken for one")
	}
}
