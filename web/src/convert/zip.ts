/** Whether a ZIP file stays small when it is unpacked: a few KB can hold gigabytes. */

/** Bytes that the texts of a file may have when they are unpacked, together. */
export const MOST_UNPACKED = 16_000_000
const MOST_ENTRIES = 5_000

const END = 0x06054b50
const ENTRY = 0x02014b50
const END_BYTES = 22
const ENTRY_BYTES = 46
const LOCAL_BYTES = 30
const LONGEST_COMMENT = 65_535

export class UnreadableFile extends Error {}
export class FileTooLarge extends Error {}

interface Entry {
  name: string
  method: number
  packed: number
  unpacked: number
  at: number
}

/**
 * Throws {@link FileTooLarge} unless the texts of the file (`.xml` and `.rels`) are small once they
 * are unpacked. What the file says of its sizes is not believed: each text is unpacked, as far as
 * it may go, and thrown away.
 */
export async function checkUnpackedSize(
  file: ArrayBuffer,
  most: number = MOST_UNPACKED,
): Promise<void> {
  let left = most
  for (const entry of entries(new DataView(file))) {
    if (!/\.(xml|rels)$/i.test(entry.name)) continue
    left -= await unpackedSize(file, entry, left)
    if (left < 0) throw new FileTooLarge()
  }
}

function entries(view: DataView): Entry[] {
  const found: Entry[] = []
  try {
    let at = endOf(view)
    const count = view.getUint16(at + 10, true)
    if (count > MOST_ENTRIES) throw new FileTooLarge()
    at = view.getUint32(at + 16, true)
    for (let number = 0; number < count; number++) {
      if (view.getUint32(at, true) !== ENTRY) throw new UnreadableFile()
      const lengths = [28, 30, 32].map((offset) => view.getUint16(at + offset, true))
      const name = new Uint8Array(view.buffer, at + ENTRY_BYTES, lengths[0])
      found.push({
        name: new TextDecoder().decode(name),
        method: view.getUint16(at + 10, true),
        packed: view.getUint32(at + 20, true),
        unpacked: view.getUint32(at + 24, true),
        at: view.getUint32(at + 42, true),
      })
      at += ENTRY_BYTES + lengths.reduce((sum, length) => sum + length, 0)
    }
  } catch (error) {
    throw error instanceof RangeError ? new UnreadableFile() : error
  }
  return found
}

/** Where the list of entries ends. */
function endOf(view: DataView): number {
  const last = view.byteLength - END_BYTES
  for (let at = last; at >= Math.max(0, last - LONGEST_COMMENT); at--)
    if (view.getUint32(at, true) === END) return at
  throw new UnreadableFile()
}

/** Counts no further than `most`. */
async function unpackedSize(file: ArrayBuffer, entry: Entry, most: number): Promise<number> {
  if (entry.unpacked > most) return entry.unpacked
  const view = new DataView(file)
  if (entry.at + LOCAL_BYTES > file.byteLength) throw new UnreadableFile()
  const skipped = view.getUint16(entry.at + 26, true) + view.getUint16(entry.at + 28, true)
  const from = entry.at + LOCAL_BYTES + skipped
  const packed = file.slice(from, from + entry.packed)
  if (entry.method === 0) return packed.byteLength
  const unpacking = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  const reader = unpacking.getReader()
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return bytes
      bytes += value.byteLength
      if (bytes > most) return bytes
    }
  } catch {
    throw new UnreadableFile()
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
