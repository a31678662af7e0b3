#!/usr/bin/env node
// Committed and plain JavaScript: npm links a `bin` at install time, before anything is built.
import { existsSync } from 'node:fs'

const main = new URL('../../dist/cluster/commands/cli-main.js', import.meta.url)
if (existsSync(main)) {
  const cli = await import(main.href)
  process.exitCode = await cli.main(process.argv.slice(2))
} else {
  console.error('quorumscan: nothing is built yet; run `npm start` first')
  process.exitCode = 1
}
