/** ZIP files, as small as they can be: Word documents of stories. */
import { crc32, deflateRawSync } from 'node:zlib'

/** A ZIP file of these entries, by their names. */
export function zip(entries) {
  const [files, directory] = [[], []]
  let at = 0
  for (const [name, content] of Object.entries(entries)) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const file = Buffer.alloc(30)
    file.writeUInt32LE(0x04034b50, 0)
    file.writeUInt16LE(20, 4)
    file.writeUInt16LE(8, 8)
    const facts = Buffer.alloc(16)
    facts.writeUInt32LE(crc32(bytes), 0)
    facts.writeUInt32LE(packed.length, 4)
    facts.writeUInt32LE(bytes.length, 8)
    facts.writeUInt16LE(name.length, 12)
    facts.copy(file, 14)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(20, 6)
    entry.writeUInt16LE(8, 10)
    facts.copy(entry, 16)
    entry.writeUInt32LE(at, 42)
    files.push(file, Buffer.from(name), packed)
    directory.push(entry, Buffer.from(name))
    at += file.length + name.length + packed.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(directory.length / 2, 8)
  end.writeUInt16LE(directory.length / 2, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...files, ...directory, end])
}

const NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const MAIN = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'
const KIND = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** A Word document with this body and these comments. */
export const wordDocument = (body, comments = '') =>
  zip({
    '[Content_Types].xml': `<?xml version="1.0"?><Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="${MAIN}"/></Types>`,
    '_rels/.rels': `<?xml version="1.0"?><Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${KIND}/officeDocument" Target="word/document.xml"/></Relationships>`,
    'word/document.xml': `<?xml version="1.0"?><w:document ${NAMESPACE}><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': `<?xml version="1.0"?><Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${KIND}/comments" Target="comments.xml"/></Relationships>`,
    'word/comments.xml': `<?xml version="1.0"?><w:comments ${NAMESPACE}>${comments}</w:comments>`,
  })
