// Reads WARC files with warcio.js, each record to its end, and writes a line of JSON for each: where it lies, and what it is.
// The second pass reads blocks as they are, and compares them with the block digests that the records name.
//
//   node read.mjs FILE…
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { WARCParser } from 'warcio'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

// base32 is that of RFC 4648 for 20 bytes, which need no padding.
function base32 (bytes) {
  const bits = Array.from(bytes, (b) => b.toString(2).padStart(8, '0')).join('')
  return bits.match(/.{5}/g).map((five) => alphabet[parseInt(five, 2)]).join('')
}

for (const file of process.argv.slice(2)) {
  const records = []
  let parser = new WARCParser(createReadStream(file))
  for await (const record of parser) {
    let payload = 0
    for await (const chunk of record) {
      payload += chunk.length
    }
    await record.skipFully()
    records.push({
      file, offset: parser.offset, length: parser.recordLength, type: record.warcType, id: record.warcHeader('WARC-Record-ID'),
      url: record.warcTargetURI || '', status: Number(record.httpHeaders?.statusCode) || 0, payload
    })
  }
  parser = new WARCParser(createReadStream(file), { parseHttp: false })
  let n = 0
  for await (const record of parser) {
    const sum = createHash('sha1')
    for await (const chunk of record) {
      sum.update(chunk)
    }
    const named = record.warcHeader('WARC-Block-Digest') ?? ''
    records[n++].block = named === '' ? 'none' : named === 'sha1:' + base32(sum.digest()) ? 'right' : 'wrong'
  }
  for (const r of records) {
    console.log(JSON.stringify(r))
  }
}
