// Writes dist/ts5.6: the declarations as compilers before TypeScript 5.7 read them, where Uint8Array has no
// type parameter yet. package.json leads those there.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('dist/', import.meta.url))
rmSync(`${dist}ts5.6`, { recursive: true, force: true })
const names = readdirSync(dist, { recursive: true, encoding: 'utf8' })
for (const file of names.filter((name) => name.endsWith('.d.ts'))) {
  const text = readFileSync(dist + file, 'utf8')
  mkdirSync(dirname(`${dist}ts5.6/${file}`), { recursive: true })
  writeFileSync(`${dist}ts5.6/${file}`, text.replaceAll('Uint8Array<ArrayBuffer>', 'Uint8Array'))
}
