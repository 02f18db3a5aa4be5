// What a document needs before its text is shown stays small; what is beside it (panel, dialogs,
// Markdown) is fetched on its own.
import { gzipSync } from 'node:zlib'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import { build, type Rollup } from 'vite'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const KB = 1_000
const BUILD_MS = 120_000

interface Script {
  code: string
  isEntry: boolean
  page: string
  imports: string[]
}

/** The scripts of the built editor, by their name. */
async function scripts(): Promise<Map<string, Script>> {
  const built = (await build({
    root: ROOT,
    mode: 'production',
    logLevel: 'silent',
    build: { write: false },
  })) as Rollup.RollupOutput
  const found = built.output.flatMap((file) =>
    file.type === 'chunk'
      ? [[file.fileName, { ...file, page: file.facadeModuleId ?? '' }] as const]
      : [],
  )
  return new Map(found)
}

/** Kilobytes of gzip that are fetched before these can run. */
function size(all: Map<string, Script>, starts: (script: Script) => boolean): number {
  const needed = new Set([...all].filter(([, script]) => starts(script)).map(([name]) => name))
  for (const name of needed) all.get(name)!.imports.forEach((other) => needed.add(other))
  const bytes = [...needed].map((name) => gzipSync(all.get(name)!.code).length)
  return bytes.reduce((sum, length) => sum + length, 0) / KB
}

it(
  'fetches little before a document or the list is shown',
  async () => {
    // As it is shipped, without what is for tests only.
    vi.stubEnv('NODE_ENV', 'production')
    const all = await scripts()
    const page = (name: string) =>
      size(all, (script) => script.isEntry || script.page.endsWith(name))
    const [document, list, entry] = [
      page('/app/DocumentPage.tsx'),
      page('/library/Library.tsx'),
      size(all, (script) => script.isEntry),
    ]
    // Else the pages were not found.
    expect(Math.min(document, list)).toBeGreaterThan(entry)
    expect(document).toBeLessThan(142)
    expect(list).toBeLessThan(45)
  },
  BUILD_MS,
)
