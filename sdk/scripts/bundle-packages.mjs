// Arranges what the compiler wrote to dist/compiled: the modules of the SDK go to dist, those of unpublished packages that it
// imports to dist/packages, and imports point there. Changes declarations so that TypeScript 5.4 and later reads them, also
// with a `lib` that has no `await using`. `npm run build` runs it after the compiler.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const compiled = join(dist, 'compiled')
const own = join(compiled, 'sdk/src')
const bundled = join(dist, 'packages')
const packages = fileURLToPath(new URL('../../packages/', import.meta.url))
const IMPORT = /(\bfrom |\bimport |\bimport\()(['"])(@quorumscan\/[\w/-]+|\.[^'"]*)\2/g

/** The module that an entry point of a package is, below `packages`, without `src` and ending: `reader/voted/voted-reader`. */
function moduleOf(specifier) {
  const [, name, entry] = /^@quorumscan\/([\w-]+)(.*)$/.exec(specifier)
  const { exports } = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'))
  if (exports[`.${entry}`] === undefined) throw new Error(`${specifier} is no entry point`)
  return join(name, exports[`.${entry}`].replace('./src/', '').replace(/\.ts$/, ''))
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

/** A source map whose sources are relative to the place to which it moves. */
function moved(map, from, to) {
  const { sources, ...rest } = JSON.parse(map)
  const paths = sources.map((source) => relative(dirname(to), resolve(dirname(from), source)))
  return JSON.stringify({ ...rest, sources: paths })
}

const wanted = new Set()
for (const name of readdirSync(own, { recursive: true, encoding: 'utf8' })) {
  const [from, to] = [join(own, name), join(dist, name)]
  if (name.endsWith('.map')) write(to, moved(readFileSync(from, 'utf8'), from, to))
  else if (/\.(?:js|d\.ts)$/.test(name))
    write(to, withCopies(readFileSync(from, 'utf8'), to, wanted))
}
// The set grows while it is walked.
for (const module of wanted) {
  const [name, ...path] = module.split('/')
  for (const ending of ['.js', '.d.ts']) {
    const from = join(compiled, 'packages', name, 'src', path.join('/') + ending)
    // The maps lead to sources that are not here.
    const text = readFileSync(from, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n')
    const file = join(bundled, module + ending)
    write(file, withCopies(text, file, wanted))
  }
}
rmSync(compiled, { recursive: true })

// For `require`: entry points that load the ES modules (Node ≥ 20.19), so that both ways share one copy. TypeScript
// takes their declarations for CommonJS, since the nearest package.json says so.
const commonjs = join(dist, 'commonjs')
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
  if (name.endsWith('.d.ts')) write(join(commonjs, name), readFileSync(join(dist, name), 'utf8'))
write(join(commonjs, 'package.json'), '{ "type": "commonjs" }\n')
const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
for (const { require: entry, default: module } of Object.values(exports)) {
  if (entry === undefined) continue
  const file = fileURLToPath(new URL(`../${entry.default}`, import.meta.url))
  const path = relative(dirname(file), fileURLToPath(new URL(`../${module}`, import.meta.url)))
  write(file, `'use strict'\nmodule.exports = require('${path}')\n`)
}
