package text

import (
	"strings"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/da"
	"github.com/blevesearch/bleve/v2/analysis/lang/fi"
	"github.com/blevesearch/bleve/v2/analysis/lang/hu"
	"github.com/blevesearch/bleve/v2/analysis/lang/no"
	"github.com/blevesearch/bleve/v2/analysis/lang/pt"
	"github.com/blevesearch/bleve/v2/analysis/lang/ro"
	"github.com/blevesearch/bleve/v2/analysis/lang/ru"
	"github.com/blevesearch/bleve/v2/analysis/lang/sv"
	"github.com/blevesearch/bleve/v2/analysis/lang/tr"
)

// stopWord tells whether a word is one of the commonest of its language: the German "war" is the English "was".
func stopWord(word, lang string) bool { return stopWords[lang][word] }

// stopWords are the commonest words of the languages that are stemmed: our own short lists, and those of Snowball.
var stopWords = func() map[string]map[string]bool {
	m := map[string]map[string]bool{}
	for lang, list := range map[string]string{
		"en": `a about above after again all also am an and any are as at be because been before being below between both but
		by can could did do does doing down during each few for from further had has have having he her here hers him his
		how i if in into is it its itself just me more most my no nor not now of off on once only or other our out over
		own same she should so some such than that the their them then there these they this those through to too under
		until up us very was we were what when where which while who whom why will with would you your`,
		"de": `aber alle als also am an auch auf aus bei bin bis bist da das dass dein dem den der des die dies diese dieser doch
		du durch ein eine einem einen einer er es für haben hat hatte ich ihr im in ist ja jede kann kein mehr mein mit nach
		nicht noch nur ob oder ohne schon sein sich sie sind so über um und uns unter vom von vor war was weil wenn wer wie
		wir wird zu zum zur`,
		"fr": `au aux avec ce ces cette dans de des du elle en est et eu il ils je la le les leur lui mais même ne nous on ou où par
		pas pour qu que qui sa se ses son sont sur ta te tu un une vous`,
		"es": `al como con de del desde donde el ella en entre era es esta este ha hay la las lo los más mi muy no nos o para pero
		por porque que se ser si sin sobre son su sus también un una y ya`,
		"it": `che con da dal degli dei del della di e gli ha il in la le lo ma nel non per più si sono una uno`,
		"nl": `aan als bij dat de den der die dit door een en er het hij ik in is je maar met naar niet of om onder ook op te tot uit
		van voor was wat wij zal ze zich zijn`,
	} {
		m[lang] = map[string]bool{}
		for w := range strings.FieldsSeq(list) {
			m[lang][w] = true
		}
	}
	for lang, list := range map[string][]byte{
		"da": da.DanishStopWords, "fi": fi.FinnishStopWords, "hu": hu.HungarianStopWords, "nb": no.NorwegianStopWords, "no": no.NorwegianStopWords,
		"pt": pt.PortugueseStopWords, "ro": ro.RomanianStopWords, "ru": ru.RussianStopWords, "sv": sv.SwedishStopWords, "tr": tr.TurkishStopWords,
	} {
		words := analysis.NewTokenMap()
		if err := words.LoadBytes(list); err != nil {
			panic(err) // the lists are constant
		}
		m[lang] = words
	}
	return m
}()
