/// <reference types="vite/client" />
/** Imports of the folders among each other. */
import { expect, it } from 'vitest'

const sources = import.meta.glob<string>(['./**/*.ts', './**/*.tsx', '!./**/*.test.ts'], {
  query: '?raw',
  import: 'default',
  eager: true,
})

const folderOf = (path: string): string => path.split('/').slice(1, -1).join('/')

/** Paths that a file imports from, with those of types and of parts that are fetched later. */
function importsOf(path: string, text: string): string[] {
  const names = [...text.matchAll(/(?:from|import\(?) ?'(\.[^']+)'/g)].map(([, name]) => name!)
  return names.map((name) => `.${new URL(name, `file:///${path.slice(2)}`).pathname}`)
}

/** The folders that each folder imports from. */
const imports = new Map<string, Set<string>>()
for (const [path, text] of Object.entries(sources)) {
  const known = imports.get(folderOf(path)) ?? new Set()
  importsOf(path, text).forEach((other) => known.add(folderOf(other)))
  imports.set(folderOf(path), known)
}

/** A way from a folder through others back to it. */
function circle(start: string): string[] | undefined {
  const seen = new Set<string>()
  const waiting = [[start]]
  for (let way = waiting.pop(); way; way = waiting.pop())
    for (const next of imports.get(way.at(-1)!) ?? []) {
      if (next === start && way.length > 1) return [...way, next]
      if (next !== way.at(-1) && !seen.has(next)) waiting.push([...way, next])
      seen.add(next)
    }
  return undefined
}

it('has no folders that import each other in a circle', () => {
  expect(imports.size).toBeGreaterThan(20)
  expect([...imports.keys()].flatMap((folder) => circle(folder)?.join(' → ') ?? [])).toEqual([])
})

it('has a pure state of the review, and of comments', () => {
  const allowed = /^(text|ui|wire|session|(review|comments)\/state)$/
  const packages = /from '(react|react-dom|zustand|@codemirror\/view|@codemirror\/commands)/
  for (const [path, text] of Object.entries(sources).filter(([path]) =>
    /^\.\/(review|comments)\/state\//.test(path),
  )) {
    expect(
      importsOf(path, text)
        .map(folderOf)
        .filter((folder) => !allowed.test(folder)),
    ).toEqual([])
    expect(packages.exec(text)?.[1]).toBeUndefined()
    expect(/\b(document|window)\.\w/.test(text)).toBe(false)
  }
})
