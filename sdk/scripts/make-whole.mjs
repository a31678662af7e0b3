// Makes dist whole, for users who have nothing else of this repository: what it imports of `consensus`, which is not
// published, goes into dist/consensus, and imports lead there. Declarations are made to be read by compilers since
// TypeScript 5.4, and by those whose `lib` does not know `await using`. `npm run build` runs it after the compiler.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const consensus = fileURLToPath(new URL('../../packages/consensus/', import.meta.url))
const { exports } = JSON.parse(readFileSync(join(consensus, 'package.json'), 'utf8'))

/** Below `packages/consensus/dist`, without ending: the module that a specifier names. */
function moduleOf(specifier) {
  const entry = exports[specifier.replace('@quorumscan/consensus', '.')]
  if (entry === undefined) throw new Error(`${specifier} is no entry point`)
  return entry.default.replace('./dist/', '').replace(/\.js$/, '')
}

/** Leads imports of the package, and of its own modules, to where they lie now. `wanted` takes what they name. */
function led(text, file, wanted) {
  return text.replace(
    /(\bfrom |\bimport |\bimport\()(['"])(@quorumscan\/consensus[\w/-]*|\.[^'"]*)\2/g,
    (all, before, quote, specifier) => {
      if (specifier.startsWith('@')) {
        const module = moduleOf(specifier)
        wanted.add(module)
        const path = relative(dirname(file), join(dist, 'consensus', `${module}.js`))
        return `${before}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`
      }
      const inner = relative(join(dist, 'consensus'), resolve(dirname(file), specifier))
      if (!inner.startsWith('..')) wanted.add(inner.replace(/\.[jt]s$/, ''))
      return all
    },
  )
}

function readable(text) {
  const plain = text.replaceAll('Uint8Array<ArrayBuffer>', 'Uint8Array')
  return /\bAsyncDisposable\b|\basyncDispose\b/.test(plain)
    ? `/// <reference lib="esnext.disposable" preserve="true" />\n${plain}`
    : plain
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, file.endsWith('.d.ts') ? readable(text) : text)
}

const wanted = new Set()
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
  if (/\.(?:js|d\.ts)$/.test(name)) {
    const file = join(dist, name)
    write(file, led(readFileSync(file, 'utf8'), file, wanted))
  }
// The set grows while it is walked.
for (const module of wanted)
  for (const ending of ['.js', '.d.ts']) {
    const from = join(consensus, 'dist', module + ending)
    if (!existsSync(from)) throw new Error(`${from} is not built`)
    // The maps lead to sources that are not here.
    const text = readFileSync(from, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n')
    const file = join(dist, 'consensus', module + ending)
    write(file, led(text, file, wanted))
  }
