#!/usr/bin/env node
// What the image and the systemd unit start. Plain JavaScript, because it is linked before anything is built.
import { existsSync } from 'node:fs'

const main = new URL('../../../dist/apps/cli/main.js', import.meta.url)
if (existsSync(main)) {
  const cli = await import(main.href)
  process.exitCode = await cli.main(process.argv.slice(2))
} else {
  console.error('quorumscan: nothing is built yet; run `npm run build` first')
  process.exitCode = 1
}
