package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/dates"
)

// label is what a word before a date or a name says of it.
type label uint8

const (
	noLabel   label = iota
	published       // the date after it is that of the first publication
	updated         // the date after it is that of a change
	byAuthor        // the name after it is that of the author
	foreign         // the date after it is of something else than the page
)

// Words before the day on which a member of a forum has joined it. Those of membership are also ranks of members.
const (
	ofJoiners  = `joined registered inscription registrado registriert registrierung beigetreten iscrizione geregistreerd registrerad dołączył dołączyła rejestracja регистрация зарегистрирован `
	membership = `member mitglied inscrit iscritto`
)

// labels are words that stand before dates and names, in the languages that package dates reads and a few more; in lower case.
var labels = func() map[string]label {
	all := map[string]label{}
	for kind, words := range map[label]string{
		published: `published posted publication released written created issued submitted veröffentlicht erstellt publiziert erschienen geschrieben eingestellt datum publié publiée
posté postée paru parue rédigé écrit publicado publicada fecha publicación escrito pubblicato pubblicata pubblicazione inserito scritto postado postada publicação gepubliceerd geplaatst
geschreven publicatiedatum publiceret offentliggjort udgivet oprettet publisert skrevet publicerad publicerat publicerades skapad skriven julkaistu opublikowano opublikowany dodano publikacji
publikováno zveřejněno vydáno publikované zverejnené közzétéve megjelent publikálva publicat publicată опубликовано опубликована опубликован опубліковано размещено публикация публикувано
yayınlanma yayın yayınlandı tarih tarihi δημοσιεύθηκε δημοσίευση δημοσιεύτηκε diterbitkan dipublikasikan objavljeno objavljen avaldatud đăng`,
		updated: `updated update modified edited revised reviewed aktualisiert aktualisierung geändert bearbeitet überarbeitet änderung modifié modifiée actualisé actualizado actualizada
actualización modificado modificada aggiornato aggiornata aggiornamento modificato modificata modifica atualizado atualizada atualização bijgewerkt gewijzigd aangepast opdateret ændret oppdatert
endret uppdaterad uppdaterat uppdaterades ändrad päivitetty muokattu zaktualizowano aktualizacja zmodyfikowano aktualizováno aktualizace upraveno aktualizované aktualizácia frissítve módosítva
actualizat modificat actualizată обновлено обновлён изменено оновлено обновено güncelleme güncellendi ενημερώθηκε ενημέρωση diperbarui actualitzat ažurirano posodobljeno uuendatud muudetud`,
		byAuthor: `by author authors von autor autorin par auteur por autora di autore door av af forfatter przez автор автора autors szerző yazan yazar oleh penulis συντάκτης`,
		foreign:  `starts begins beginnt endet bis hasta tot till jusqu founded gegründet geboren copyright deadline expires expire expired born accessed retrieved ends until valid ` + ofJoiners + membership,
	} {
		for _, word := range strings.Fields(words) {
			all[word] = kind
		}
	}
	return all
}()

// untilWords are those of foreign that are also names or other words ("Till Corvi", "tot", "bis"): they say something only of a date at once behind them.
var untilWords = wordSet("till bis tot hasta")

// beforeDates are words between one of untilWords and its date. They are listed, as what may stand there otherwise is not to be: "tot rust", "bis bald",
// "hasta siempre", and a date behind these is that of the page.
var beforeDates = wordSet(`zum zur am den dem der des spätestens längstens einschließlich einschliesslich einschl inklusive inkl incl und mit inclusive en met uiterlijk op och med senast
el día dia próximo on the`)

// maxBeforeDate bounds the words between one of untilWords and its date: "tot en met uiterlijk vrijdag", and the date.
const maxBeforeDate = 5

// labelAt is what a word says of what comes after it.
func labelAt(word, after string) label {
	word = strings.ToLower(word)
	kind := labels[word]
	if kind != foreign || !untilWords[word] {
		return kind
	}
	for range maxBeforeDate {
		after = strings.TrimLeft(after, " :：(")
		next, rest, _ := strings.Cut(after, " ")
		plain := strings.ToLower(strings.Trim(next, ",.)"))
		switch {
		case next == "":
			return noLabel
		case isDigit(next[0]) || isMonth(next):
			return kind
		case !beforeDates[plain] && !dates.IsWeekday(plain):
			return noLabel
		}
		after = rest
	}
	return noLabel
}

// particles are those of byAuthor that also stand within names: "Ursula von der Raben", "Karen af Ravn".
var particles = wordSet("von di af av door par por")

// isParticle reports whether a word for "by" is a part of the name before it: it is small, just behind a word with a capital, and before another.
func isParticle(before, word, after string) bool {
	if !particles[word] || !strings.HasSuffix(before, " ") {
		return false
	}
	before, after = strings.TrimSpace(before), strings.TrimSpace(after)
	first, _ := utf8.DecodeRuneInString(before[strings.LastIndexByte(before, ' ')+1:])
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	return unicode.IsUpper(first) && (unicode.IsLetter(last) || last == '.') && unicode.IsLetter(next)
}

// signs are labels in scripts that do not part words.
var signs = []struct {
	text string
	kind label
}{
	{"投稿者", byAuthor}, {"发布者", byAuthor}, {"發佈者", byAuthor}, {"发布人", byAuthor}, {"작성자", byAuthor}, {"글쓴이", byAuthor}, {"执笔", byAuthor}, {"執筆", byAuthor},
	{"更新", updated}, {"修改", updated}, {"수정", updated}, {"업데이트", updated},
	{"发布", published}, {"發布", published}, {"发表", published}, {"發表", published}, {"投稿", published}, {"公開", published}, {"掲載", published}, {"작성", published},
	{"등록", published}, {"입력", published}, {"게시", published}, {"©", foreign},
	{"注册", foreign}, {"註冊", foreign}, {"登録日", foreign}, {"가입", foreign},
	{"作者", byAuthor}, {"记者", byAuthor}, {"記者", byAuthor}, {"文責", byAuthor}, {"著者", byAuthor}, {"저자", byAuthor},
	{"à jour", updated}, {"mis en ligne", published}, {"mise en ligne", published},
}

var (
	joiningWords = wordSet(ofJoiners + "注册 註冊 登録日 가입")
	memberWords  = wordSet(membership)
	// sinceWords stand between those and the day.
	sinceWords = wordSet("since seit depuis le am on desde dal 时间 時間 日期 日 일")
)

// ofJoining reports whether a text is the label of the day on which a member has joined: "Joined", "Date joined:", "Member since". A rank is none:
// "Member", "Registered User".
func ofJoining(text string) bool {
	var buf [maxSpans + 1]span
	list := spansOf(text, buf[:0])
	if len(list) == 0 {
		return false
	}
	rest := list[len(list)-1].text
	before := strings.Fields(strings.ToLower(text[:len(text)-len(rest)]))
	if len(before) == 0 {
		return false
	}
	word, after := before[len(before)-1], strings.ToLower(strings.TrimSpace(rest))
	plain := strings.TrimRight(after, " :：")
	switch {
	case memberWords[word]:
		return sinceWords[plain]
	case joiningWords[word]:
		return sinceWords[plain] || after != plain || plain == "" && len(before) == 1
	}
	return false
}

// span is a part of a text from one label to the next.
type span struct {
	kind label
	text string
}

// maxSpans bounds the labels of one text.
const maxSpans = 8

// spansOf cuts a text at its labels; the first span has none if the text does not begin with one.
func spansOf(text string, list []span) []span {
	from, kind := 0, noLabel
	cut := func(at, end int, next label) {
		if part := text[from:at]; kind != noLabel || strings.TrimSpace(part) != "" {
			list = append(list, span{kind, part})
		}
		from, kind = end, next
	}
	for at := 0; at < len(text) && len(list) < maxSpans; {
		r, n := utf8.DecodeRuneInString(text[at:])
		if next, size := signAt(text[at:], r); size > 0 {
			cut(at, at+size, next)
			at += size
			continue
		}
		if !unicode.IsLetter(r) {
			at += n
			continue
		}
		end := at + n
		for end < len(text) {
			r, n := utf8.DecodeRuneInString(text[end:])
			if !unicode.IsLetter(r) && !unicode.IsMark(r) || r >= 0x2E80 {
				break
			}
			end += n
		}
		if next := labelAt(text[at:end], text[end:]); next != noLabel && !(next == byAuthor && kind == byAuthor && isParticle(text[from:at], text[at:end], text[end:])) {
			cut(at, end, next)
		}
		at = end
	}
	cut(len(text), len(text), noLabel)
	return list
}

func signAt(text string, first rune) (label, int) {
	if first < 0x80 && first != 'm' && first != 'M' {
		return noLabel, 0
	}
	for i := range signs {
		if s := signs[i].text; len(text) >= len(s) && strings.EqualFold(text[:len(s)], s) {
			return signs[i].kind, len(s)
		}
	}
	return noLabel, 0
}
