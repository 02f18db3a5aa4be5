import { deflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { checkUnpackedSize, FileTooLarge, UnreadableFile } from './zip.ts'

/** A ZIP file of one entry that says it has `says` bytes. */
function zip(name: string, content: Buffer, says = content.length): ArrayBuffer {
  const packed = deflateRawSync(content)
  const local = Buffer.alloc(30)
  local.writeUInt32LE(0x04034b50, 0)
  local.writeUInt16LE(8, 8)
  local.writeUInt16LE(name.length, 26)
  const entry = Buffer.alloc(46)
  entry.writeUInt32LE(0x02014b50, 0)
  entry.writeUInt16LE(8, 10)
  entry.writeUInt32LE(packed.length, 20)
  entry.writeUInt32LE(says, 24)
  entry.writeUInt16LE(name.length, 28)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(1, 10)
  const before = Buffer.concat([local, Buffer.from(name), packed])
  end.writeUInt32LE(before.length, 16)
  const file = Buffer.concat([before, entry, Buffer.from(name), end])
  return Uint8Array.from(file).buffer
}

const MANY = Buffer.alloc(20_000_000, 'a')

test('a small text passes, and so does a large picture', async () => {
  await checkUnpackedSize(zip('word/document.xml', Buffer.from('<w/>')))
  await checkUnpackedSize(zip('word/media/image1.bmp', MANY))
})

test('20 MB in a few KB are refused, whatever the file says of its size', async () => {
  const bomb = zip('word/document.xml', MANY)
  expect(bomb.byteLength).toBeLessThan(50_000)
  await expect(checkUnpackedSize(bomb)).rejects.toThrow(FileTooLarge)
  const lying = zip('word/document.xml', MANY, 10)
  await expect(checkUnpackedSize(lying)).rejects.toThrow(FileTooLarge)
})

test('what is no ZIP file, or a damaged one, is not read', async () => {
  const cut = zip('word/document.xml', Buffer.from('<w/>')).slice(0, 40)
  const empty = new ArrayBuffer(0)
  const damaged = new Uint8Array(zip('word/document.xml', Buffer.alloc(9_000, 'abc')))
  damaged.fill(255, 50, 60)
  for (const file of [cut, empty, damaged.buffer])
    await expect(checkUnpackedSize(file)).rejects.toThrow(UnreadableFile)
})
