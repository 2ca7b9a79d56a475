package text

import (
	"embed"
	"path"
	"strings"
)

// stopWordLists has a file with the commonest words of each language that is stemmed. The first line of each names its origin:
// our own short lists, and those of Snowball and of Jacques Savoy.
//
//go:embed stopwords/*.txt
var stopWordLists embed.FS

// stopWords are the commonest words by language.
var stopWords = readStopWords(stopWordLists)

// stopWord reports whether a word is a stop word of its language: "war" is one in German, but not in English.
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
	words["nb"] = words["no"] // the Norwegian list is of Bokmål
	return words
}

// listed are the words of a list, separated by blanks; lines that begin with # are comments.
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
