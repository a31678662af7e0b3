// Bundles all processes straight from their sources into `dist`, where clusters, tests, releases and the image take them
// from: nothing else builds them. `npm start` and `npm test` always run it. It does nothing while the contents of all files
// that it reads, and of all that it wrote, are those of the last time.
//
//   node build.mjs             the processes, and the page of the console
//   node build.mjs --tests     also the programs of tests, into `test/dist`
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const root = import.meta.dirname
/** Where a package has both sources and a build (`@quorumscan/sdk`), this leads to the sources. */
const CONDITIONS = ['@quorumscan/source']
/** The oldest Node that runs bundles: newer syntax such as `await using` is rewritten. */
const TARGET = 'node20.19'
const CONSOLE = 'apps/console'
/** An entry is a file of one of these names: an app, the command, or a process of the test rig. */
const PROCESS = /^(?:apps\/\w+\/src\/main|cluster\/src\/\w+\/\w+-main)\.ts$/
const TEST_PROGRAM = /^test\/(?!sim\/).*(?:\/main|-child)\.ts$/

/** What bundles are made of, besides the packages of the registry, whose versions the lock file has. */
const INPUTS = ['packages', 'apps', 'cluster', 'sdk', 'test']
const INPUT_FILES = ['build.mjs', 'package-lock.json', 'package.json', 'tsconfig.base.json']
/** Folders below them that have no sources. */
const OUTPUTS = ['node_modules', 'dist', '.turbo']

if (process.argv[1] === import.meta.filename) {
  const isForTests = process.argv.includes('--tests')
  const works = [
    ['dist', buildProcesses],
    ...(isForTests ? [['test/dist', buildTestPrograms]] : []),
  ]
  const inputs = digestOf([...INPUT_FILES, ...INPUTS.flatMap(sourcesBelow)])
  const stampOf = (directory) =>
    join(root, 'node_modules/.cache/build', directory.replace('/', '-'))
  await Promise.all(
    works.map(([directory, build]) =>
      buildUnlessDone({ directory, build, inputs, stampFile: stampOf(directory) }),
    ),
  )
}

/**
 * Builds into a directory, unless its files are what the last build made of the same inputs.
 *
 * @param inputs - A digest of all that the build reads.
 * @param stampFile - Has what the last build read and wrote.
 */
export async function buildUnlessDone({ directory, build, inputs, stampFile }) {
  const stamp = () => `${inputs} ${process.version} ${digestOf(filesBelow(directory))}\n`
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp()) return
  rmSync(stampFile, { force: true })
  await build()
  mkdirSync(dirname(stampFile), { recursive: true })
  replaceFile(stampFile, stamp())
}

/** The SHA-256 of the paths and contents of files of the repository. */
function digestOf(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    const bytes = readFileSync(resolve(root, file))
    hash.update(`${file} ${bytes.length}\n`).update(bytes)
  }
  return hash.digest('hex')
}

function sourcesBelow(folder) {
  return filesBelow(folder, (name) => !OUTPUTS.includes(name))
}

/** The files below a folder of the repository, in an order of their names. */
function filesBelow(folder, isWanted = () => true) {
  if (!existsSync(resolve(root, folder))) return []
  return readdirSync(resolve(root, folder), { withFileTypes: true })
    .filter(({ name }) => isWanted(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const file = join(folder, entry.name)
      if (entry.isDirectory()) return filesBelow(file, isWanted)
      return entry.isFile() ? [file] : []
    })
}

/**
 * Bundles the processes and the page of the console into `dist`.
 *
 * @returns The chunks of the processes, with their paths below `dist`, and those of the page.
 */
export async function buildProcesses() {
  const directory = join(root, 'dist')
  const entries = entriesOf(['apps', 'cluster'], PROCESS)
  const [chunks, page] = await Promise.all([
    bundle(entries, (file) => file.replace('/src/', '/')),
    bundleConsole(),
  ])
  const files = new Map(chunks.map(({ fileName, code }) => [fileName, code]))
  for (const [file, bytes] of page.files) files.set(join(CONSOLE, file), bytes)
  writeDirectory(directory, files)
  return { chunks, page: page.chunks }
}

/** Bundles what benchmarks, attacks and other tests run as processes of their own. */
async function buildTestPrograms() {
  const directory = join(root, 'test/dist')
  const entries = entriesOf(['test'], TEST_PROGRAM)
  // They run only here: packages of the registry are loaded from where they are installed.
  const isInstalled = (id, _importer, isResolved) => isResolved && id.includes('/node_modules/')
  const nameOf = (file) => file.replace('test/', '')
  const chunks = await bundle(entries, nameOf, isInstalled)
  writeDirectory(directory, new Map(chunks.map(({ fileName, code }) => [fileName, code])))
}

/** The sources below these folders whose path matches. */
function entriesOf(folders, pattern) {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => !file.includes('node_modules'))
        .map((file) => join(folder, file)),
    )
    .filter((file) => pattern.test(file))
    .sort()
}

/**
 * Bundles these entries. What several of them import is in chunks that they share, and a chunk has no code that one of the
 * entries which load it does not import.
 *
 * @param nameOf - The path of the output of an entry.
 */
async function bundle(entries, nameOf, external) {
  const { rolldown } = await import('rolldown')
  const warnings = []
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((file) => [nameOf(file).replace(/\.ts$/, ''), file])),
    external,
    makeAbsoluteExternalsRelative: false,
    platform: 'node',
    resolve: { conditionNames: CONDITIONS },
    transform: { target: TARGET },
    onLog: (level, { message }) => level === 'warn' && warnings.push(message),
  })
  const { output } = await build.generate({
    format: 'esm',
    chunkFileNames: 'chunks/[name]-[hash].js',
    // A process reads and compiles all of its code when it starts. Licenses are in a file of the release.
    comments: { legal: false, annotation: false, jsdoc: false },
  })
  await build.close()
  if (warnings.length > 0) throw new Error(warnings.join('\n'))
  return output
}

async function bundleConsole() {
  const { build: buildPage } = await import('vite')
  const folder = join(root, CONSOLE)
  const { NODE_ENV } = process.env
  // The page is the same in every environment: Vite takes React for development where this has another value.
  process.env.NODE_ENV = 'production'
  const { output } = await buildPage({ root: folder, logLevel: 'warn', build: { write: false } })
  // With that value, npm, which a release runs, would leave out packages.
  if (NODE_ENV === undefined) delete process.env.NODE_ENV
  else process.env.NODE_ENV = NODE_ENV
  const statics = join(folder, 'public')
  const files = [
    ...output.map((one) => [one.fileName, one.code ?? one.source]),
    ...readdirSync(statics).map((file) => [file, readFileSync(join(statics, file))]),
  ]
  return { files, chunks: output.filter(({ type }) => type === 'chunk') }
}

/**
 * Makes a directory have exactly these files. Those that are equal stay, and others are replaced as a whole: processes may
 * start from them, and another build may write them, at the same time.
 */
export function writeDirectory(directory, files) {
  for (const [path, content] of files) {
    const file = join(directory, path)
    const bytes = Buffer.from(content)
    if (existsSync(file) && readFileSync(file).equals(bytes)) continue
    mkdirSync(dirname(file), { recursive: true })
    replaceFile(file, bytes)
  }
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (entry.isFile() && !files.has(file.slice(directory.length + 1)))
      rmSync(file, { force: true })
  }
}

function replaceFile(file, bytes) {
  const temporary = `${file}.${process.pid}`
  for (;;) {
    writeFileSync(temporary, bytes)
    try {
      renameSync(temporary, file)
      return
    } catch (error) {
      // Another build has removed what it does not know.
      if (error.code !== 'ENOENT') throw error
    }
  }
}
