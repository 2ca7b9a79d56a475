package text

import (
	"embed"
	"path"
	"strings"
)

// stopWordLists are the commonest words of each language that is stemmed, a file each, with its origin in the first line:
// our own short lists, and those of Snowball and of Jacques Savoy.
//
//go:embed stopwords/*.txt
var stopWordLists embed.FS

// stopWords are the commonest words by language.
var stopWords = readStopWords(stopWordLists)

// stopWord reports whether a word is one of the commonest of its language: the German "war" is the English "was".
func stopWord(word, lang string) bool { return stopWords[lang][word] }

func readStopWords(lists embed.FS) map[string]map[string]bool {
	words := map[string]map[string]bool{}
	files, err := lists.ReadDir("stopwords")
	if err != nil {
		panic(err) // the folder is embedded
	}
	for _, f := range files {
		list, err := lists.ReadFile("stopwords/" + f.Name())
		if err != nil {
			panic(err)
		}
		words[strings.TrimSuffix(f.Name(), path.Ext(f.Name()))] = listed(string(list))
	}
	words["nb"] = words["no"] // Bokmål is what the list of Norwegian has
	return words
}

// listed are the words of a list: between blanks, but for lines of comment.
func listed(list string) map[string]bool {
	words := map[string]bool{}
	for line := range strings.Lines(list) {
		if line[0] == '#' {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			words[word] = true
		}
	}
	return words
}
