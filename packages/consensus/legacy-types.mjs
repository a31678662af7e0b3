// Writes dist/ts5.6: the declarations as compilers before TypeScript 5.7 read them, where Uint8Array has no
// type parameter yet. package.json leads those there.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('dist/', import.meta.url))
mkdirSync(`${dist}ts5.6`, { recursive: true })
for (const file of readdirSync(dist).filter((name) => name.endsWith('.d.ts'))) {
  const text = readFileSync(dist + file, 'utf8')
  writeFileSync(`${dist}ts5.6/${file}`, text.replaceAll('Uint8Array<ArrayBuffer>', 'Uint8Array'))
}
