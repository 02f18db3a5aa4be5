#!/usr/bin/env node
// Starts the server of this platform, which is in a package of its own, and ends as it ends.
'use strict'

const { spawn } = require('node:child_process')

const platform = `copydesk-${process.platform}-${process.arch}`
const file = process.platform === 'win32' ? 'copydesk.exe' : 'copydesk'

let program
try {
  program = require.resolve(`${platform}/bin/${file}`)
} catch {
  console.error(
    `copydesk: the package ${platform} is not installed. ` +
      'Either there is none for this platform, or optional packages were left out.',
  )
  process.exit(1)
}

const server = spawn(program, process.argv.slice(2), { stdio: 'inherit' })
// A terminal sends its signal to both; who sends one to this process alone means the server.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => server.kill(signal))
server.on('error', (error) => {
  console.error(`copydesk: ${program} could not be started: ${error.message}`)
  process.exit(1)
})
server.on('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 1)
  for (const each of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(each)
  process.kill(process.pid, signal)
})
