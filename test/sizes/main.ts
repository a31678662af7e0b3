/**
 * `npm run docs:sizes` measures the code of a first lookup with each client, and what pages load. It writes the figures into
 * README.md and sdk/README.md. With `--files` it prints each file of the pages, and what share of it each source has.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { CLIENTS, kilobytesOf, README, withFigure } from './lookup-sizes.ts'
import { loadOf, PAGE_NAMES, SDK_README, withPage } from './page-loads.ts'

let document = readFileSync(README, 'utf8')
for (const client of CLIENTS) {
  const kilobytes = await kilobytesOf(client)
  process.stdout.write(`${client}: ${kilobytes} kB\n`)
  document = withFigure(document, client, kilobytes)
}
writeFileSync(README, document)

document = readFileSync(SDK_README, 'utf8')
for (const page of PAGE_NAMES) {
  const load = await loadOf(page)
  process.stdout.write(`${page}: first ${load.first} B, until the answer ${load.untilAnswer} B\n`)
  document = withPage(document, page, load)
  if (!process.argv.includes('--files')) continue
  for (const { name, bytes, sources } of load.files) {
    process.stdout.write(`  ${name}: ${bytes} B\n`)
    const lengths = Object.entries(sources)
    const whole = lengths.reduce((sum, [, length]) => sum + length, 0)
    for (const [source, length] of lengths)
      process.stdout.write(`    ${source}: ${Math.round((bytes * length) / whole)} B\n`)
  }
}
writeFileSync(SDK_README, document)
