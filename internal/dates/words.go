package dates

// word is what a word means, which may be several things: "mar" is a month and a weekday.
type word struct {
	flags   flags
	zone    int16 // minutes east of UTC
	month   uint8
	weekday uint8 // 1 for Monday; 8 if languages disagree
	unit    unit
	back    uint8 // 1 for today, 2 for yesterday
	part    uint8 // of a month's name of two words: see pairs
}

// flags are what a word may be.
type flags uint64

const (
	at         flags = 1 << iota // leads to a time of day, after which 10.23 is one
	known                        // comes before a date or a time of day and has no meaning
	link                         // joins the parts of a date
	ordinal                      // ends a number
	am                           // before noon
	pm                           // after noon
	letterA                      // of a.m.
	letterP                      // of p.m.
	letterM                      // of both
	letterI                      // of i dag
	letterY                      // of il y a
	isZone                       // names a zone
	isoT                         // of 2012-08-01T10:00
	hourSign                     // ends an hour, as in 12h30 and 10时
	minuteSign                   // ends a minute
	secondSign                   // ends a second
	yearSign                     // ends a year, as 年 does
	monthSign                    // ends a month
	daySign                      // ends a day
	han                          // is a sign of Chinese or Japanese
	dayFirst                     // is of a language of which the day comes before the month
	weak                         // is common in another sense too
	software                     // leads to the number of a version
	stamp                        // names a parameter that holds a time
	one                          // is 1
	agoBefore                    // as "vor" in "vor 3 Tagen"
	agoAfter                     // as "ago"
	agoFill                      // may stand before agoAfter
	and                          // joins counts
	before                       // of avant-hier
	afterI                       // is a day only after "i"
	persian                      // is a month of the Persian calendar
	yearWord                     // comes after the year that a date begins with
	monthWord                    // comes before the number of a month
)

// flagged are the words by what they are.
var flagged = map[flags]string{
	at:         "at um kl klo kello klokken klockan alle ore las les às as à a la o om u w v в о об στις ve saat godz uur pukul jam lúc dalle с t الساعة ساعت في เวลา u plkst בשעה",
	dayFirst:   "um kl klo kello klokken klockan alle ore las les às à om uhr uur godz saat pukul jam lúc ngày thứ в об στις le el il du vom dnia dne fecha datum data сегодня вчера",
	known:      "on posted written published updated edited created added date datum data fecha dato am vom den der le du el il del dne dnia since feira г года год р року ngày วันที่ ที่ gada године r στο sent hui 星期 周 週 礼拜 一 二 三 四 五 六 曜日",
	link:       "de del of d den the m năm",
	yearWord:   "gada",
	monthWord:  "tháng",
	ordinal:    "st nd rd th er ère re e er o a ª º ος η го ого й е",
	am:         "ص صباحا am πμ öö 上午 午前 早上 凌晨 오전",
	pm:         "م مساء pm μμ ös 下午 午後 晚上 오후",
	letterA:    "a",
	letterP:    "p",
	letterM:    "m",
	letterI:    "i",
	letterY:    "y",
	isoT:       "t",
	hourSign:   "h hs hrs uhr uur 时 時 点 點 시",
	minuteSign: "min 分 분",
	secondSign: "s sec 秒 초",
	yearSign:   "年 년",
	monthSign:  "月 월",
	daySign:    "日 号 號 일",
	software:   "version ver release build firmware revision patch update ip",
	stamp:      "time timestamp ts date dateline showcomment published",
	one:        "an a one un une una uma ein eine einer einem einen een en et ett",
	agoBefore:  "vor hace há před πριν acum fa",
	agoAfter:   "ago fa geleden siden sedan temu назад тому önce πριν sitten lalu atrás ezelőtt 前 전",
	agoFill:    "yang în",
	and:        "and und et y e og och en и",
	before:     "avant",
	afterI:     "går dag",
}

// units are the units of dates relative to now.
var units = map[unit]string{
	seconds: "second seconds sec secs sekunde sekunden seconde secondes segundo segundos secondo secondi sekund sekundy sekunder секунд секунды секунду saniye 秒 초",
	minutes: "minute minutes min mins minuten minuto minutos minuti minut minuty minuta minutter minuter minuuttia минут минуты минуту хвилин хвилини dakika λεπτά perce menit minuts 分 分钟 分鐘 분",
	hours:   "hour hours hr hrs h stunde stunden std heure heures hora horas ora ore uur godzin godziny godzinę hodin hodinami hodinou time timer timme timmar часа часов час години годин saat ώρες ώρα órája tunti tuntia jam hores 小时 小時 時間 시간",
	days:    "d day days tag tage tagen jour jours día días giorno giorni dia dias dag dagen dage dager dagar dni dzień dny dnem день дня дней дні днів gün ημέρες μέρες napja päivää zile zi hari dies 天 日 일",
	weeks:   "w week weeks woche wochen semaine semaines semana semanas settimana settimane weken uge uger uke uker vecka veckor tydzień tygodnie tygodni неделю недели недель hafta viikkoa setmana setmanes",
	years:   "year years yr yrs jahr jahre jahren an ans année années año años anno anni ano anos jaar år rok lata lat let roky год года лет рік роки років yıl χρόνια éve vuotta ani anys tahun 年 년",
	months:  "month months monat monate monaten mois mes meses mese mesi mês maand maanden måned måneder månad månader miesiąc miesiące miesięcy месяц месяца месяцев ay kuukautta mesos",
}

// daysBack are the words for today, for yesterday and for the day before. One that ends with '?' is common in
// another sense, and needs "à" and a time of day.
var daysBack = [...]string{
	"today heute aujourd hoy oggi hoje avui vandaag idag dag dziś dzisiaj dnes сегодня сьогодні bugün σήμερα tänään azi 今天 今日 本日 오늘",
	"yesterday gestern hier? ayer ieri ontem ahir gisteren igår går wczoraj včera вчера вчора dün χθες χτες tegnap eilen kemarin 昨天 昨日 어제",
	"vorgestern anteayer anteontem 前天",
}

// zones are the zones that have only one meaning on pages, in minutes east of UTC; those of North America are
// those of RFC 2822. But for the first they count in capitals only.
var zones = map[string]int16{
	"utc": 0, "gmt": 0, "z": 0, "wet": 0,
	"cet": 60, "mez": 60, "cest": 120, "mesz": 120, "eet": 120, "eest": 180, "msk": 180, "jst": 540,
	"est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480, "pdt": -420,
}

// IsWeekday reports whether a word is the name of a weekday in a language that this package reads, or short for one.
func IsWeekday(name string) bool { return words[fold(name)].weekday != 0 }
