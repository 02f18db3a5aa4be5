// Packs the npm packages of a release: `copydesk`, and the one with the program of this platform.
//   node packaging/npm/pack.mjs PROGRAM VERSION FOLDER
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

// Those that .github/workflows/release.yml builds.
const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'win32-x64']

const [program, version, folder] = process.argv.slice(2)
const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '../..')
const work = fs.mkdtempSync(join(tmpdir(), 'copydesk-npm-'))

const described = {
  version,
  license: 'Apache-2.0',
  description:
    'A self-hosted document server where people write together ' +
    'and every AI edit is reviewed before it lands',
}

/** Writes the manifest of a package and packs what is beside it. */
function pack(name, manifest) {
  const place = join(work, name)
  fs.copyFileSync(join(root, 'LICENSE'), join(place, 'LICENSE'))
  const text = JSON.stringify({ name, ...described, ...manifest }, null, 2)
  fs.writeFileSync(join(place, 'package.json'), text)
  // npm.cmd is no program, but a script of the shell.
  const options = ['--silent', '--ignore-scripts', '--pack-destination', resolve(folder)]
  execFileSync('npm', ['pack', ...options], {
    cwd: place,
    shell: process.platform === 'win32',
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

try {
  fs.cpSync(join(here, 'copydesk'), join(work, 'copydesk'), { recursive: true })
  pack('copydesk', {
    bin: { copydesk: 'copydesk.js' },
    files: ['copydesk.js'],
    engines: { node: '>=18' },
    optionalDependencies: Object.fromEntries(PLATFORMS.map((it) => [`copydesk-${it}`, version])),
  })

  const platform = `${process.platform}-${process.arch}`
  const name = `copydesk-${platform}`
  const file = join(work, name, 'bin', basename(program))
  fs.mkdirSync(dirname(file), { recursive: true })
  fs.copyFileSync(program, file)
  fs.chmodSync(file, 0o755)
  pack(name, {
    os: [process.platform],
    cpu: [process.arch],
    // The program needs the C library of GNU.
    ...(process.platform === 'linux' ? { libc: ['glibc'] } : {}),
    files: ['bin'],
  })
} finally {
  fs.rmSync(work, { recursive: true, force: true })
}
