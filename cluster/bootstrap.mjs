// What `npm start`, `npm test`, `npm run bench` and CI run first, on a machine that may have only Node and npm: provides the
// npm packages, a Redis server, a build and, for tests, Chromium, as far as they are needed. It needs no root, asks nothing,
// reports what it fetches, and is quick when nothing is missing. Plain JavaScript without dependencies; its syntax must parse
// on old Nodes.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NODE_MIN = '20.19'

/** Why it cannot continue, as a sentence for the terminal. */
class Stop extends Error {}

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [command, ...args] = process.argv.slice(2)
const isForTests = ['test', 'long', 'bench'].includes(command)

try {
  if (!isAtLeast(process.version.slice(1), NODE_MIN))
    fail(`Node ${NODE_MIN} or newer is needed; this is ${process.version}.`)
  const packages = installPackages()
  await all([packages, isForTests ? provideForTests(packages) : provideRedis()])
  if (!isForTests) await build()
  await run()
} catch (error) {
  if (!(error instanceof Stop)) throw error
  say(error.message)
  process.exitCode = 1
}

/** Waits until each has ended, so that none is interrupted, and throws the first error. */
async function all(works) {
  const failed = (await Promise.allSettled(works)).find(({ status }) => status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/** Runs `npm ci` when `node_modules` differs from the lock file. */
async function installPackages() {
  const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const stampFile = join(root, 'node_modules', '.quorumscan-stamp')
  const stamp = createHash('sha256')
    .update(`${process.platform} ${process.arch}\n${lockText}`)
    .digest('hex')
  if (readIfThere(stampFile) === stamp) return
  if (!isInstalled(JSON.parse(lockText))) {
    say('Installing the npm packages (npm ci) …')
    // NODE_ENV=production must not omit the compiler. Warnings about packages of others are for contributors.
    await npm(['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'])
  }
  mkdirSync(dirname(stampFile), { recursive: true })
  writeFileSync(stampFile, stamp)
}

/** Whether npm's own record of `node_modules` has every package of the lock file in its version. */
function isInstalled(lock) {
  const recordText = readIfThere(join(root, 'node_modules', '.package-lock.json'))
  if (recordText === null) return false
  const installed = JSON.parse(recordText).packages
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (!path.startsWith('node_modules/') && !path.includes('/node_modules/')) return true
    const actual = installed[path]
    // Optional packages for other systems are missing; links have no version.
    if (actual === undefined) return wanted.optional === true || wanted.devOptional === true
    return actual.version === wanted.version && existsSync(join(root, path))
  })
}

/** Sets $REDIS_SERVER for all processes that this one starts. */
async function provideRedis() {
  const redis = await import('./provide-redis.mjs')
  try {
    process.env.REDIS_SERVER = await redis.provideRedis(process.env, say)
  } catch (error) {
    throw error instanceof redis.NoRedis ? new Stop(error.message) : error
  }
}

/** @param packages - Settles when the npm packages are there, which only a build needs. */
async function provideForTests(packages) {
  const { providePrograms } = await import(pathToFileURL(join(root, 'test/programs.mjs')).href)
  await providePrograms(command === 'test' ? args : [], {
    build: async () => {
      await packages
      await build()
    },
    fail,
    onPath,
    provideRedis,
    say,
  })
}

/** Bundles all processes, in a process of its own, whose memory is free afterwards. */
async function build() {
  const words = [join(root, 'build.mjs'), ...(isForTests ? ['--tests'] : [])]
  const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 2, 2] })
  const [status] = await once(child, 'close')
  if (status !== 0) fail('The build failed.')
}

async function run() {
  const cli = 'dist/cluster/commands/cli-main.js'
  const programs = {
    start: [cli, ['up', '--seed-names', ...args]],
    test: ['test/run.mjs', args],
    long: ['test/dist/long/main.js', args],
    bench: ['test/dist/bench/main.js', args],
    cometbft: [cli, [command, ...args]],
  }
  const [file, words] = programs[command] ?? fail(`bootstrap: unknown command "${command}"`)
  const program = await import(pathToFileURL(join(root, file)).href)
  process.exitCode = await program.main(words)
}

async function npm(npmArgs) {
  // The npm that runs this script, rather than another one on the PATH.
  const script = process.env.npm_execpath
  const [program, first] = script ? [process.execPath, [script]] : ['npm', []]
  const child = spawn(program, [...first, ...npmArgs], { cwd: root, stdio: ['ignore', 2, 2] })
  const [status] = await once(child, 'close')
  if (status !== 0) fail(`\`npm ${npmArgs.join(' ')}\` failed.`)
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

function onPath(name) {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find((file) => existsSync(file))
}

/** Of versions such as `20.19.1`. */
function isAtLeast(version, min) {
  return version.localeCompare(min, 'en', { numeric: true }) >= 0
}

function say(sentence) {
  process.stderr.write(`${sentence}\n`)
}

function fail(sentence) {
  throw new Stop(sentence)
}
