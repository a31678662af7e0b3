/** `npm run docs:sizes` measures the code of a first lookup with each client, and writes the figures into README.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import { CLIENTS, kilobytesOf, README, withFigure } from './lookup-sizes.ts'

let document = readFileSync(README, 'utf8')
for (const client of CLIENTS) {
  const kilobytes = await kilobytesOf(client)
  process.stdout.write(`${client}: ${kilobytes} kB\n`)
  document = withFigure(document, client, kilobytes)
}
writeFileSync(README, document)
