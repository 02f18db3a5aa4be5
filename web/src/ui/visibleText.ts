/** Texts as they are, with what could deceive the eye made visible. Pure. */

/** Control characters but tab and line end, and everything that reorders text or cannot be seen. */
const DECEIVING =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

export function showInvisible(text: string): string {
  return text.replace(
    DECEIVING,
    (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  )
}

export type LineKind = 'place' | 'new' | 'gone' | 'same'
export interface DiffLine {
  kind: LineKind
  text: string
}

/**
 * Lines of a unified diff, as people read it: its first two lines, which name the file, are left
 * out, and its places are said by their line in the file as it is now.
 */
export function diffLines(lines: readonly string[]): DiffLine[] {
  return lines.slice(2).map((line) => {
    const kind = kindOf(line)
    return { kind, text: kind === 'place' ? placeOf(line) : showInvisible(line) }
  })
}

/** "@@ -4,2 +4,3 @@" as "Line 4"; a new file begins at 1. */
const placeOf = (line: string): string => `Line ${/^@@ -([1-9]\d*)/.exec(line)?.[1] ?? '1'}`

function kindOf(line: string): LineKind {
  if (line.startsWith('@@')) return 'place'
  return line.startsWith('+') ? 'new' : line.startsWith('-') ? 'gone' : 'same'
}

/** One field of a tool's input, and how it is edited. */
export interface Field {
  name: string
  kind: 'text' | 'switch' | 'json'
  text: string
}

export function fieldsOf(input: unknown): Field[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return [{ name: '', kind: 'json', text: JSON.stringify(input, null, 2) }]
  return Object.entries(input).map(([name, value]: [string, unknown]) => {
    if (typeof value === 'string') return { name, kind: 'text', text: value }
    if (typeof value === 'boolean') return { name, kind: 'switch', text: String(value) }
    return { name, kind: 'json', text: JSON.stringify(value, null, 2) }
  })
}

/** The input that edited fields make; throws if one of them is not JSON. */
export function inputOf(fields: readonly Field[]): unknown {
  const value = ({ kind, text }: Field): unknown =>
    kind === 'text' ? text : (JSON.parse(text) as unknown)
  if (fields.length === 1 && fields[0]!.name === '') return value(fields[0]!)
  return Object.fromEntries(fields.map((field) => [field.name, value(field)]))
}
