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
	{"Croatian", "siječanj siječnja|veljača veljače|ožujak ožujka|travanj travnja|svibanj svibnja|lipanj lipnja|srpanj srpnja|kolovoz kolovoza|rujan rujna|oktobar|studeni studenoga studenog|prosinac prosinca"}, // listopad is November elsewhere, so October is left out
	{"Serbian", "januar januara јануар јануара јан|februar februara фебруар фебруара феб|mart marta март марта|april aprila април априла|maj maja мај маја|jun juna јун јуна|jul jula јул јула|avgust avgusta август августа|septembar septembra септембар септембра сеп|oktobar oktobra октобар октобра|novembar novembra новембар новембра|decembar decembra децембар децембра"},
	{"Macedonian", "јануари|февруари|март|април|мај|јуни|јули|август|септември|октомври|ноември|декември"},
	{"Belarusian", "студзень студзеня|люты лютага|сакавік сакавіка|красавік красавіка|травень траўня|чэрвень чэрвеня|ліпень ліпеня|жнівень жніўня|верасень верасня|кастрычнік кастрычніка|лістапад лістапада|снежань снежня"},
	{"Lithuanian", "sausis sausio|vasaris vasario|kovas kovo|balandis balandžio|gegužė gegužės|birželis birželio|liepa liepos|rugpjūtis rugpjūčio|rugsėjis rugsėjo|spalis spalio|lapkritis lapkričio|gruodis gruodžio"},
	{"Latvian", "janvāris janvārī janvāra|februāris februārī februāra|marts martā marta|aprīlis aprīlī aprīļa|maijs maijā maija|jūnijs jūnijā jūnija|jūlijs jūlijā jūlija|augusts augustā augusta|septembris septembrī septembra|oktobris oktobrī oktobra|novembris novembrī novembra|decembris decembrī decembra"},
	{"Icelandic", "janúar|febrúar|mars|apríl|maí|júní|júlí|ágúst|september|október|nóvember|desember"},
	{"Albanian", "janar|shkurt|mars|prill|maj|qershor|korrik|gusht|shtator|tetor|nëntor|dhjetor"},
	{"Galician", "xaneiro|febreiro|marzo|abril|maio|xuño|xullo|agosto|setembro|outubro|novembro|decembro"},
	{"Malay", "januari|februari|mac?|april|mei|jun|julai|ogos|september|oktober|november|disember"},
	{"Filipino", "enero|pebrero|marso|abril|mayo|hunyo|hulyo|agosto|setyembre|oktubre|nobyembre|disyembre"},
	{"Azerbaijani", "yanvar|fevral|mart|aprel|may|iyun|iyul|avqust|sentyabr|oktyabr|noyabr|dekabr"},
	{"Kazakh", "қаңтар|ақпан|наурыз|сәуір|мамыр|маусым|шілде|тамыз|қыркүйек|қазан|қараша|желтоқсан"},
	{"Georgian", "იანვარი|თებერვალი|მარტი|აპრილი|მაისი|ივნისი|ივლისი|აგვისტო|სექტემბერი|ოქტომბერი|ნოემბერი|დეკემბერი"},
	{"Arabic", "يناير جانفي|فبراير فيفري شباط|مارس آذار|أبريل إبريل أفريل نيسان|مايو ماي أيار|يونيو يونية جوان حزيران|يوليو يوليوز جويلية تموز|أغسطس أوت غشت آب|سبتمبر شتنبر أيلول|أكتوبر|نوفمبر نونبر|ديسمبر دجنبر"},
	{"Persian", "ژانویه|فوریه|مارس|آوریل|مه می|ژوئن ژوين|ژوئیه جولای|اوت آگوست|سپتامبر|اکتبر|نوامبر|دسامبر"},
	{"Urdu", "جنوری|فروری|مارچ|اپریل|مئی|جون|جولائی|اگست|ستمبر|اکتوبر|نومبر|دسمبر"},
	{"Hebrew", "ינואר בינואר|פברואר בפברואר|מרץ במרץ מרס במרס|אפריל באפריל|מאי במאי|יוני ביוני|יולי ביולי|אוגוסט באוגוסט|ספטמבר בספטמבר|אוקטובר באוקטובר|נובמבר בנובמבר|דצמבר בדצמבר"},
	{"Hindi", "जनवरी|फरवरी फ़रवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर सितम्बर|अक्टूबर अक्तूबर|नवंबर नवम्बर|दिसंबर दिसम्बर"},
	{"Marathi", "जानेवारी|फेब्रुवारी|मार्च|एप्रिल|मे|जून|जुलै|ऑगस्ट|सप्टेंबर|ऑक्टोबर|नोव्हेंबर|डिसेंबर"},
	{"Bengali", "জানুয়ারি জানুয়ারী|ফেব্রুয়ারি ফেব্রুয়ারী|মার্চ|এপ্রিল|মে|জুন|জুলাই|আগস্ট অগাস্ট|সেপ্টেম্বর|অক্টোবর|নভেম্বর|ডিসেম্বর"},
	{"Tamil", "ஜனவரி|பிப்ரவரி|மார்ச்|ஏப்ரல்|மே|ஜூன்|ஜூலை|ஆகஸ்ட்|செப்டம்பர்|அக்டோபர்|நவம்பர்|டிசம்பர்"},
	{"Telugu", "జనవరి|ఫిబ్రవరి|మార్చి|ఏప్రిల్|మే|జూన్|జులై|ఆగస్టు|సెప్టెంబర్|అక్టోబర్|నవంబర్|డిసెంబర్"},
	{"Thai", "มกราคม มค|กุมภาพันธ์ กพ|มีนาคม มีค|เมษายน เมย|พฤษภาคม พค|มิถุนายน มิย|กรกฎาคม กค|สิงหาคม สค|กันยายน กย|ตุลาคม ตค|พฤศจิกายน พย|ธันวาคม ธค"},
}

// persianNames are the months of the Persian calendar.
const persianNames = "فروردین|اردیبهشت|خرداد|تیر|مرداد|شهریور|مهر|آبان|آذر|دی|بهمن|اسفند"

// pairs are names of months of two words, in the Levant and in Iraq: the numbers of their parts, and the month.
var (
	parts = map[string]uint8{"كانون": 1, "تشرين": 2, "الأول": 3, "الثاني": 4}
	pairs = map[[2]uint8]uint8{{1, 4}: 1, {1, 3}: 12, {2, 3}: 10, {2, 4}: 11}
)

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
	{"Arabic", "الإثنين الاثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت|الأحد"},
	{"Persian", "دوشنبه|سه\u200cشنبه|چهارشنبه|پنجشنبه پنج\u200cشنبه|جمعه|شنبه|یکشنبه یک\u200cشنبه"},
	{"Serbian", "ponedeljak понедељак|utorak уторак|sreda среда|četvrtak четвртак|petak петак|subota субота|nedelja недеља"},
	{"Croatian", "ponedjeljak|utorak|srijeda|četvrtak|petak|subota|nedjelja"},
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
	for i, name := range strings.Split(persianNames, "|") {
		w := all[fold(name)]
		if w.month != 0 {
			conflicts = append(conflicts, "Persian calendar: "+name)
		}
		w.month, w.flags = uint8(i+1), w.flags|persian
		all[fold(name)] = w
	}
	for name, part := range parts {
		w := all[fold(name)]
		w.part = part
		all[fold(name)] = w
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
	for i := 0; i < len(name); {
		c, size := decode(name[i:])
		if i += size; c == 0 {
			continue
		}
		if n = appendFold(&buf, n, c); n < 0 {
			return name
		}
	}
	return string(buf[:n])
}
