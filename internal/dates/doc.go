// Package dates reads the dates that web pages show: those of machines (RFC 3339, RFC 1123, Unix seconds and
// milliseconds) and those of people, in some fifty languages, alone or in a phrase, as in "by Hugo » Sat
// Nov 21, 2026 9:15 am", "Samstag, 5. Oktober 2013 um 10:23" and "2012年8月1日". Text is cut into numbers, words
// and signs, words are looked up in one table, and each number and each name of a month is asked whether a
// date stands around it.
//
// What counts, where a text could be read in more than one way:
//
//   - The first full date counts; if there is none, a date relative to now ("yesterday at 10:15", "2 hours
//     ago"); if there is none either a month with its year ("November 2026"), of which the first day is given.
//     A year alone is no date, nor is a day without its year.
//   - The time of day is the one after the date, or else the one just before it. Without one it is 00:00:00.
//     Without a zone it is UTC, and UTC is the zone of dates relative to now.
//   - Of two numbers that may both be the month: a part above 12 is the day; a weekday that is named and fits
//     only one order decides; with dots the day comes first, and so it does near words of a language that
//     writes the day first ("le", "um", "Samstag"). If nothing of this helps the month comes first with '/', and
//     with '-' before a time of am or pm; with '-' else the day comes first.
//   - Years go from 1990 to two years after now, to 2100 if now is zero. Those of two digits are read with '/', with
//     '-' and with dots where both other parts have two digits too (with dots not after an unknown word), after
//     an apostrophe, and in "21 Nov 26 09:15".
//   - 1.2.2010 is the first of February, unless a letter stands before it ("v1.2.2010"), a word such as "version",
//     or a fourth part.
//   - Unix times are ten or thirteen digits that are the whole text; thirteen also after '=', ten after '=' only
//     if the name before says time ("time=", "date=").
//
// Digits of Arabic, Persian, Thai and the scripts of India are read as others. Years of the Buddhist calendar are 543 greater; dates with a name of
// a month of the Persian calendar, or with its year before an Arabic or Persian word, are of that calendar.
//
// A date that does not exist (May 99, 31 February) is not read, and nothing is made of a part of it.
package dates
