// `npm run release` builds a release into `release/`: packages that a machine with Node and npm installs without this
// repository, their bills of materials, the changes since the last release, and the hashes of all files.
//
// Two builds of one commit by the same versions of Node and npm are equal byte for byte: `npm pack` sorts entries and
// fixes their times, the modes of files are set here, and the only date is that of the commit.
//
//   node deploy/release/main.mjs [DIRECTORY]
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { buildProcesses } from '../../build.mjs'
import { billOfMaterials, refsOf, refsOfDependencies } from './bill-of-materials.mjs'
import { chunksOf, licensesOf, manifestOf, packagesOf } from './bundle.mjs'

const root = dirname(dirname(import.meta.dirname))
const out = resolve(process.argv[2] ?? join(root, 'release'))
const staging = mkdtempSync(join(tmpdir(), 'quorumscan-release-'))

try {
  await buildRelease()
} finally {
  rmSync(staging, { recursive: true, force: true })
}

async function buildRelease() {
  // With `-dirty` at its end, it is not a build of that commit.
  const commit = git('describe', '--always', '--abbrev=40', '--dirty', '--exclude=*')
  const built = await buildProcesses()
  compileSdk()
  const packages = [stageOperators(commit, built), stageFull(commit, built), stageSdk(commit)]
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  for (const { directory } of packages) setModes(directory)
  const directories = packages.map(({ directory }) => directory)
  npm('pack', ...directories, '--pack-destination', out, '--ignore-scripts', '--silent')
  writeBills(packages)
  const changes = changelogSection(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))
  writeFileSync(join(out, 'CHANGES.md'), changes)
  const hashes = readdirSync(out)
    .sort()
    .map((file) => `${sha256(readFileSync(join(out, file)))}  ${file}\n`)
  writeFileSync(join(out, 'SHA256SUMS'), hashes.join(''))
  process.stdout.write(`${out}: ${commit}\n${hashes.join('')}`)
}

/** The command of operators with its apps: nothing of the test rig, and so no fault injection. */
function stageOperators(commit, built) {
  const directory = join(staging, 'cli')
  const chunks = chunksOf(built.chunks, (entry) => entry.startsWith('apps/'))
  const folders = packagesOf(chunks)
  const manifest = stage({ directory, commit, from: 'apps/cli', chunks, folders })
  return { directory, manifest, folders }
}

/** The command of the cluster, which has all of that of operators, with the page of its console. */
function stageFull(commit, { chunks, page }) {
  const directory = join(staging, 'full')
  const folders = packagesOf([...chunks, ...page])
  for (const path of ['dist/apps/console', 'cluster/src/judge/chaos/report.css'])
    cpSync(join(root, path), join(directory, path), { recursive: true })
  const manifest = stage({ directory, commit, from: 'cluster', chunks, folders })
  return { directory, manifest, folders }
}

/**
 * Adds what makes bundles a package. Its files lie where they lie in this repository, where the command looks for them.
 */
function stage({ directory, commit, from, chunks, folders }) {
  const { name, version, license, type } = manifestOf(join(root, from))
  const { engines } = manifestOf(root)
  // npm's name for the commit that a package was made of. `quorumscan --version` prints it.
  const manifest = { name, version, license, type, engines, gitHead: commit }
  const bin = `${from}/bin/quorumscan.mjs`
  writeJson(join(directory, 'package.json'), { ...manifest, bin: { quorumscan: bin } })
  // The command finds its files, and its version, by this one (packages/base/src/software.ts).
  writeJson(join(directory, 'apps/cli/package.json'), manifest)
  for (const { fileName } of chunks)
    cpSync(join(root, 'dist', fileName), join(directory, 'dist', fileName))
  const documents = [
    ':(glob)*.md',
    'LICENSE',
    'docs/**.md',
    'deploy',
    'packages/verifier/*.md',
    'sdk/*.md',
  ]
  const files = git('ls-files', ...documents, ':!deploy/release').split('\n')
  for (const file of [...files, bin]) cpSync(join(root, file), join(directory, file))
  writeFileSync(join(directory, 'THIRD-PARTY-LICENSES.txt'), licensesOf([...new Set(folders)]))
  return manifest
}

/** Turbo has the output for these sources, or runs the compiler. */
function compileSdk() {
  const turbo = join(root, 'node_modules/.bin/turbo')
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' }
  const words = ['run', 'build', '--ui=stream', '--output-logs=errors-only']
  execFileSync(turbo, words, { cwd: root, env, stdio: ['ignore', 2, 2] })
}

/** npm leaves out what `files` of its package.json leaves out. */
function stageSdk(commit) {
  const directory = join(staging, 'sdk')
  const manifest = manifestOf(join(root, 'sdk'))
  for (const file of [...manifest.files, 'README.md'].filter((file) => !file.startsWith('!')))
    cpSync(join(root, 'sdk', file), join(directory, file), { recursive: true })
  cpSync(join(root, 'LICENSE'), join(directory, 'LICENSE'))
  writeJson(join(directory, 'package.json'), { ...manifest, gitHead: commit })
  return { directory, manifest, folders: [] }
}

function writeBills(packages) {
  const timestamp = git('log', '-1', '--format=%cd', '--date=format-local:%Y-%m-%dT%H:%M:%SZ')
  const workspaces = ['cluster', 'apps/cli', 'apps/console', 'sdk'].flatMap((one) => ['-w', one])
  const text = npm('sbom', '--sbom-format=cyclonedx', '--package-lock-only', ...workspaces)
  const whole = JSON.parse(text)
  for (const { manifest, folders } of packages) {
    const refs = [...refsOf(folders), ...refsOfDependencies(whole, manifest)].sort()
    const file = `${manifest.name.replace(/^@/, '').replace('/', '-')}-${manifest.version}.cdx.json`
    writeJson(join(out, file), billOfMaterials(whole, manifest, timestamp, refs))
  }
}

/** The first section: that of the version, or of what is not released yet. */
function changelogSection(changelog) {
  const [, section = ''] = /\n(## [\s\S]*?)(?:\n## |$)/.exec(changelog) ?? []
  return `${section.trim()}\n`
}

/** Independent of the umask with which the repository was checked out. npm makes programs executable. */
function setModes(directory) {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true }))
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644)
}

function writeJson(file, value) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}

function git(...args) {
  const env = { ...process.env, TZ: 'UTC' }
  return execFileSync('git', args, { cwd: root, env, encoding: 'utf8' }).trim()
}

function npm(...args) {
  return execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
}
