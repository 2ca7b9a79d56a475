package dates

import "strings"

// monthNames are the names of the months by language, in their cases and short forms, as they are written; accents
// and capitals do not count when they are looked up. A name that is also a common word of some language
// ends with '?'.
var monthNames = [...]struct{ language, names string }{
	{"English", "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct|november nov|december dec"},
	{"German", "januar jänner jan jän|februar feber feb febr|märz maerz mrz mär|april apr|mai|juni jun|juli jul|august aug|september sep sept|oktober okt|november nov|dezember dez"},
	{"French", "janvier janv|février févr fév|mars|avril avr|mai|juin|juillet juil|août aout|septembre sept|octobre oct|novembre nov|décembre déc"},
	{"Spanish", "enero ene|febrero feb|marzo mar|abril abr|mayo may|junio jun|julio jul|agosto ago?|septiembre setiembre sep set?|octubre oct|noviembre nov|diciembre dic"},
	{"Italian", "gennaio gen?|febbraio feb|marzo mar|aprile apr|maggio mag?|giugno giu|luglio lug|agosto ago?|settembre set? sett|ottobre ott|novembre nov|dicembre dic"},
	{"Portuguese", "janeiro jan|fevereiro fev|março mar|abril abr|maio mai|junho jun|julho jul|agosto ago?|setembro set?|outubro out?|novembro nov|dezembro dez"},
	{"Catalan", "gener gen?|febrer febr|març|abril abr|maig|juny|juliol|agost ag?|setembre set?|octubre oct|novembre nov|desembre des?"},
	{"Romanian", "ianuarie ian?|februarie|martie|aprilie|mai|iunie iun|iulie iul|august|septembrie|octombrie|noiembrie noi? noiem|decembrie"},
	{"Dutch", "januari|februari|maart mrt|april|mei|juni|juli|augustus|september|oktober okt|november|december"},
	{"Danish", "januar|februar|marts|april|maj|juni|juli|august|september|oktober|november|december"},
	{"Norwegian", "januar|februar|mars|april|mai|juni|juli|august|september|oktober|november|desember des?"},
	{"Swedish", "januari|februari|mars|april|maj|juni|juli|augusti|september|oktober|november|december"},
	{"Polish", "styczeń stycznia sty|luty lutego lut|marzec marca|kwiecień kwietnia kwi|maj maja|czerwiec czerwca cze|lipiec lipca lip?|sierpień sierpnia sie?|wrzesień września wrz|październik października paź|listopad listopada lis?|grudzień grudnia gru?"},
	{"Czech", "leden ledna led?|únor února úno|březen března bře|duben dubna dub?|květen května kvě|červen června čvn|červenec července čvc|srpen srpna srp|září zář|říjen října říj|listopad listopadu lis?|prosinec prosince pro?"},
	{"Slovak", "január januára|február februára|marec marca|apríl apríla|máj mája|jún júna|júl júla|august augusta|september septembra|október októbra|november novembra|december decembra"},
	{"Slovenian", "januar januarja|februar februarja|marec marca|april aprila|maj maja|junij junija|julij julija|avgust avgusta avg|september septembra|oktober oktobra|november novembra|december decembra"},
	{"Hungarian", "január|február febr|március márc|április ápr|május máj|június jún|július júl|augusztus|szeptember szept|október okt|november|december"},
	{"Finnish", "tammikuu tammikuuta tammikuun tammi|helmikuu helmikuuta helmikuun helmi|maaliskuu maaliskuuta maaliskuun maalis|huhtikuu huhtikuuta huhtikuun huhti|toukokuu toukokuuta toukokuun touko|kesäkuu kesäkuuta kesäkuun kesä|heinäkuu heinäkuuta heinäkuun heinä|elokuu elokuuta elokuun elo?|syyskuu syyskuuta syyskuun syys|lokakuu lokakuuta lokakuun loka|marraskuu marraskuuta marraskuun marras|joulukuu joulukuuta joulukuun joulu"},
	{"Estonian", "jaanuar|veebruar|märts|aprill|mai|juuni|juuli|august|september|oktoober|november|detsember"},
	{"Russian", "январь января янв|февраль февраля фев февр|март марта мар|апрель апреля апр|май мая|июнь июня июн|июль июля июл|август августа авг|сентябрь сентября сен сент|октябрь октября окт|ноябрь ноября ноя нояб|декабрь декабря дек"},
	{"Ukrainian", "січень січня січ|лютий лютого лют|березень березня бер|квітень квітня кві квіт|травень травня тра трав|червень червня чер черв|липень липня лип|серпень серпня сер серп|вересень вересня вер верес|жовтень жовтня жов жовт|листопад листопада лис лист|грудень грудня гру груд"},
	{"Bulgarian", "януари яну|февруари|март|април|май|юни|юли|август|септември сеп|октомври|ноември ное|декември"},
	{"Turkish", "ocak oca|şubat şub|mart|nisan nis|mayıs may|haziran haz|temmuz tem|ağustos ağu|eylül eyl|ekim eki|kasım kas?|aralık ara?"},
	{"Greek", "ιανουάριος ιανουαρίου ιαν|φεβρουάριος φεβρουαρίου φεβ|μάρτιος μαρτίου μαρ μαρτ|απρίλιος απριλίου απρ|μάιος μαΐου μάι|ιούνιος ιουνίου ιουν|ιούλιος ιουλίου ιουλ|αύγουστος αυγούστου αυγ|σεπτέμβριος σεπτεμβρίου σεπ σεπτ|οκτώβριος οκτωβρίου οκτ|νοέμβριος νοεμβρίου νοε|δεκέμβριος δεκεμβρίου δεκ"},
	{"Indonesian", "januari|februari pebruari|maret|april|mei|juni|juli|agustus agt agu ags|september|oktober okt|november nopember nop|desember des?"},
}

// weekdayNames are the names of the weekdays by language, Monday first.
var weekdayNames = [...]struct{ language, names string }{
	{"English", "monday mon|tuesday tue tues|wednesday wed|thursday thu thur thurs|friday fri|saturday sat|sunday sun"},
	{"German", "montag mo|dienstag di|mittwoch mi|donnerstag do|freitag fr|samstag sonnabend sa|sonntag so"},
	{"French", "lundi lun|mardi mar|mercredi mer|jeudi jeu|vendredi ven|samedi sam|dimanche dim"},
	{"Spanish", "lunes lun|martes mar|miércoles mié|jueves jue|viernes vie|sábado sáb|domingo dom"},
	{"Italian", "lunedì lun|martedì mar|mercoledì mer|giovedì gio|venerdì ven|sabato sab|domenica dom"},
	{"Portuguese", "segunda seg|terça ter|quarta qua|quinta qui|sexta sex|sábado sáb|domingo dom"},
	{"Catalan", "dilluns|dimarts|dimecres|dijous|divendres|dissabte|diumenge"},
	{"Romanian", "luni|marți|miercuri|joi|vineri|sâmbătă|duminică"},
	{"Dutch", "maandag|dinsdag|woensdag wo|donderdag|vrijdag vr|zaterdag za|zondag zo"},
	{"Danish", "mandag man|tirsdag tir|onsdag ons|torsdag tor|fredag fre|lørdag lør|søndag søn"},
	{"Swedish", "måndag mån|tisdag tis|onsdag ons|torsdag tors|fredag fre|lördag lör|söndag sön"},
	{"Polish", "poniedziałek pon|wtorek wto|środa śro|czwartek czw|piątek pią|sobota sob|niedziela nie"},
	{"Czech", "pondělí|úterý|středa|čtvrtek|pátek|sobota|neděle"},
	{"Hungarian", "hétfő|kedd|szerda|csütörtök|péntek|szombat|vasárnap"},
	{"Finnish", "maanantai|tiistai|keskiviikko|torstai|perjantai|lauantai|sunnuntai"},
	{"Russian", "понедельник пн|вторник вт|среда ср|четверг чт|пятница пт|суббота сб|воскресенье вс"},
	{"Ukrainian", "понеділок пн|вівторок вт|середа ср|четвер чт|ятниця пт|субота сб|неділя нд"},
	{"Turkish", "pazartesi pzt|salı sal|çarşamba çar|perşembe|cuma cum|cumartesi cmt|pazar paz"},
	{"Greek", "δευτέρα δευ|τρίτη τρι|τετάρτη τετ|πέμπτη πεμ|παρασκευή παρ|σάββατο σαβ|κυριακή κυρ"},
	{"Indonesian", "senin|selasa|rabu|kamis|jumat|sabtu|minggu"},
	{"Korean", "월요일|화요일|수요일|목요일|금요일|토요일|일요일"},
}

// shortest is how many letters a weekday has at least that shows a language in which the day comes first; "man" and
// "so" are English words too.
const shortest = 5

// words reports what each word means that is known, by its small letters without accents.
var words, conflicts = table()

// table makes the table of words. It also names the words that stand for two months, of which there must be none.
func table() (all map[string]word, conflicts []string) {
	all = make(map[string]word, 1500)
	for _, l := range monthNames {
		for i, names := range strings.Split(l.names, "|") {
			for _, name := range strings.Fields(names) {
				name, common := strings.CutSuffix(name, "?")
				name = fold(name)
				w := all[name]
				if w.month != 0 && w.month != uint8(i+1) {
					conflicts = append(conflicts, l.language+": "+name)
				}
				if w.month = uint8(i + 1); common {
					w.flags |= weak
				}
				all[name] = w
			}
		}
	}
	for _, l := range weekdayNames {
		for i, names := range strings.Split(l.names, "|") {
			for _, name := range strings.Fields(names) {
				name = fold(name)
				w := all[name]
				if day := uint8(i + 1); w.weekday == 0 || w.weekday == day {
					w.weekday = day
				} else {
					w.weekday = 8 // one, but which is not known
				}
				if l.language != "English" && len([]rune(name)) >= shortest {
					w.flags |= dayFirst
				}
				all[name] = w
			}
		}
	}
	for f, names := range flagged {
		for _, name := range strings.Fields(names) {
			name = fold(name)
			w := all[name]
			w.flags |= f
			all[name] = w
		}
	}
	for u, names := range units {
		for _, name := range strings.Fields(names) {
			name = fold(name)
			w := all[name]
			w.unit = u
			all[name] = w
		}
	}
	for i, names := range daysBack {
		for _, name := range strings.Fields(names) {
			name, common := strings.CutSuffix(name, "?")
			name = fold(name)
			w := all[name]
			if w.back = uint8(i + 1); common {
				w.flags |= weak
			}
			all[name] = w
		}
	}
	for name, minutes := range zones {
		w := all[name]
		w.zone = minutes
		w.flags |= isZone
		all[name] = w
	}
	return all, conflicts
}

// fold is a word as it is looked up.
func fold(name string) string {
	var buf [maxWord]byte
	n := 0
	for _, c := range name {
		if n = appendFold(&buf, n, c); n < 0 {
			return name
		}
	}
	return string(buf[:n])
}
