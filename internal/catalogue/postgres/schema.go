package postgres

// version is that of the tables below.
const version = 1

// tables are those of internal/catalogue/sqlite. Texts are in the order of their bytes; a key is short enough for an entry of an index.
const tables = `
CREATE TABLE IF NOT EXISTS about (name text PRIMARY KEY, value bigint NOT NULL);
CREATE TABLE IF NOT EXISTS segments (
	number bigint PRIMARY KEY, prefix text NOT NULL, crawl text NOT NULL, name text NOT NULL,
	run bigint NOT NULL, warc text NOT NULL);
CREATE TABLE IF NOT EXISTS captures (
	key text COLLATE "C" NOT NULL, time bigint NOT NULL, segment bigint NOT NULL, position bigint NOT NULL,
	length bigint NOT NULL, url text NOT NULL, status integer NOT NULL, mime text NOT NULL,
	digest text NOT NULL, digest_number bigint NOT NULL, revisit boolean NOT NULL, score double precision NOT NULL,
	application text NOT NULL, language text NOT NULL, title text NOT NULL,
	original_url text NOT NULL, original_time bigint NOT NULL,
	PRIMARY KEY (key, time, segment, position));
CREATE INDEX IF NOT EXISTS captures_by_digest ON captures (digest_number, key, time, segment, position);
CREATE TABLE IF NOT EXISTS answers (
	name text COLLATE "C" NOT NULL, address text COLLATE "C" NOT NULL, time bigint NOT NULL, segment bigint NOT NULL,
	PRIMARY KEY (name, address, time, segment));
CREATE INDEX IF NOT EXISTS answers_by_address ON answers (address, name, time, segment);`

const columns = `key, time, segment, position, length, url, status, mime, digest, digest_number, revisit, score, application, language, title, original_url, original_time`

// The statements of a page, by the kind of its window, and in reverse.
const (
	ofKey           = `SELECT ` + columns + ` FROM captures WHERE key = $1 AND (time, segment, position) > ($2,$3,$4) ORDER BY time, segment, position LIMIT $5`
	ofKeyReverse    = `SELECT ` + columns + ` FROM captures WHERE key = $1 AND (time, segment, position) < ($2,$3,$4) ORDER BY time DESC, segment DESC, position DESC LIMIT $5`
	ofSpan          = `SELECT ` + columns + ` FROM captures WHERE (key, time, segment, position) > ($1,$2,$3,$4) AND key < $5 ORDER BY key, time, segment, position LIMIT $6`
	ofSpanReverse   = `SELECT ` + columns + ` FROM captures WHERE (key, time, segment, position) < ($1,$2,$3,$4) AND key >= $5 ORDER BY key DESC, time DESC, segment DESC, position DESC LIMIT $6`
	ofDigest        = `SELECT ` + columns + ` FROM captures WHERE digest_number = $1 AND (key, time, segment, position) > ($2,$3,$4,$5) AND key < $6 ORDER BY key, time, segment, position LIMIT $7`
	ofDigestReverse = `SELECT ` + columns + ` FROM captures WHERE digest_number = $1 AND (key, time, segment, position) < ($2,$3,$4,$5) AND key >= $6 ORDER BY key DESC, time DESC, segment DESC, position DESC LIMIT $7`
)

// The statements of answers.
const (
	answersOfName    = `SELECT name, address, time, segment FROM answers WHERE name = $1 AND (address, time, segment) > ($2,$3,$4) ORDER BY address, time, segment LIMIT $5`
	answersOfAddress = `SELECT name, address, time, segment FROM answers WHERE address = $1 AND (name, time, segment) > ($2,$3,$4) ORDER BY name, time, segment LIMIT $5`
	allAnswers       = `SELECT name, address, time, segment FROM answers WHERE (name, address, time, segment) > ($1,$2,$3,$4) ORDER BY name, address, time, segment LIMIT $5`
)
