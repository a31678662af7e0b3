// Copies the modules of unpublished packages that the SDK imports to dist/packages, and points imports at the copies.
// Changes declarations so that TypeScript 5.4 and later reads them, also with a `lib` that has no `await using`.
// `npm run build` runs it after the compiler.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const bundled = join(dist, 'packages')
const packages = fileURLToPath(new URL('../../packages/', import.meta.url))
const IMPORT = /(\bfrom |\bimport |\bimport\()(['"])(@quorumscan\/[\w/-]+|\.[^'"]*)\2/g

/** The built file that an entry point of a package is, below `packages`, without `dist` and ending: `reader/voted/voted-reader`. */
function moduleOf(specifier) {
  const [, name, entry] = /^@quorumscan\/([\w-]+)(.*)$/.exec(specifier)
  const { exports } = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'))
  if (exports[`.${entry}`] === undefined) throw new Error(`${specifier} is no entry point`)
  return join(name, exports[`.${entry}`].default.replace('./dist/', '').replace(/\.js$/, ''))
}

/** Points imports of packages at their copies. Adds every copy that `file` needs to `wanted`. */
function withCopies(text, file, wanted) {
  return text.replace(IMPORT, (all, before, quote, specifier) => {
    if (specifier.startsWith('@')) {
      const module = moduleOf(specifier)
      wanted.add(module)
      const path = relative(dirname(file), join(bundled, `${module}.js`))
      return `${before}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`
    }
    const inner = relative(bundled, resolve(dirname(file), specifier))
    if (!inner.startsWith('..')) wanted.add(inner.replace(/\.[jt]s$/, ''))
    return all
  })
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
    write(file, withCopies(readFileSync(file, 'utf8'), file, wanted))
  }
// The set grows while it is walked.
for (const module of wanted) {
  const [name, ...path] = module.split('/')
  for (const ending of ['.js', '.d.ts']) {
    const from = join(packages, name, 'dist', path.join('/') + ending)
    if (!existsSync(from)) throw new Error(`${from} is not built`)
    // The maps lead to sources that are not here.
    const text = readFileSync(from, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n')
    const file = join(bundled, module + ending)
    write(file, withCopies(text, file, wanted))
  }
}
