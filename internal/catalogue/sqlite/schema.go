package sqlite

// version is that of the tables below.
const version = 1

// The segment's number and the time are in the key of a row, so that a segment that is added again after a crash replaces what it left.
// Tables are without row numbers: a look-up and the reading of neighbours touch one tree.
const mainTables = `
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS segments (
	number INTEGER PRIMARY KEY, prefix TEXT NOT NULL, crawl TEXT NOT NULL, name TEXT NOT NULL,
	run INTEGER NOT NULL, warc TEXT NOT NULL, whole INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS answers (
	name TEXT NOT NULL, address TEXT NOT NULL, time INTEGER NOT NULL, segment INTEGER NOT NULL,
	PRIMARY KEY (name, address, time, segment)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answers_by_address ON answers (address, name, time, segment);`

const shardTables = `
CREATE TABLE IF NOT EXISTS captures (
	key TEXT NOT NULL, time INTEGER NOT NULL, segment INTEGER NOT NULL, position INTEGER NOT NULL,
	length INTEGER NOT NULL, url TEXT NOT NULL, status INTEGER NOT NULL, mime TEXT NOT NULL,
	digest TEXT NOT NULL, digest_number INTEGER NOT NULL, revisit INTEGER NOT NULL, score REAL NOT NULL,
	application TEXT NOT NULL, language TEXT NOT NULL, title TEXT NOT NULL,
	original_url TEXT NOT NULL, original_time INTEGER NOT NULL,
	PRIMARY KEY (key, time, segment, position)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS captures_by_digest ON captures (digest_number);`

const columns = `key, time, segment, position, length, url, status, mime, digest, digest_number, revisit, score, application, language, title, original_url, original_time`

const insertCapture = `INSERT OR REPLACE INTO captures (` + columns + `) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

// The statements of a page, by the kind of its window, and in reverse. A row comparison alone is enough for SQLite to begin at its place.
const (
	ofKey           = `SELECT ` + columns + ` FROM captures WHERE key = ? AND (time, segment, position) > (?,?,?) ORDER BY time, segment, position LIMIT ?`
	ofKeyReverse    = `SELECT ` + columns + ` FROM captures WHERE key = ? AND (time, segment, position) < (?,?,?) ORDER BY time DESC, segment DESC, position DESC LIMIT ?`
	ofSpan          = `SELECT ` + columns + ` FROM captures WHERE (key, time, segment, position) > (?,?,?,?) AND key < ? ORDER BY key, time, segment, position LIMIT ?`
	ofSpanReverse   = `SELECT ` + columns + ` FROM captures WHERE (key, time, segment, position) < (?,?,?,?) AND key >= ? ORDER BY key DESC, time DESC, segment DESC, position DESC LIMIT ?`
	ofDigest        = `SELECT ` + columns + ` FROM captures INDEXED BY captures_by_digest WHERE digest_number = ? AND (key, time, segment, position) > (?,?,?,?) AND key < ? ORDER BY key, time, segment, position LIMIT ?`
	ofDigestReverse = `SELECT ` + columns + ` FROM captures INDEXED BY captures_by_digest WHERE digest_number = ? AND (key, time, segment, position) < (?,?,?,?) AND key >= ? ORDER BY key DESC, time DESC, segment DESC, position DESC LIMIT ?`
)
