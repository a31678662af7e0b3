// What `npm start`, `npm test` and CI run first, on a machine that may have only Node and npm: provides the npm packages, a
// Redis server, a build and, for tests, Chromium, as far as they are needed. Reports what it installs, asks before it
// installs anything as root, and is quick when nothing is missing. Plain JavaScript without dependencies; its syntax must
// parse on old Nodes.

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NODE_MIN = '20.19'
const REDIS_MIN = '7.0'
const BUILD_NOTICE_MS = 2000
// Package scripts start services unless policy-rc.d forbids it (invoke-rc.d, deb-systemd-invoke). It is one shell script, so
// that the policy file is deleted even after an interrupt. A failed update may concern another source; the install decides.
const INSTALL = `
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 130' INT TERM HUP
  printf '#!/bin/sh\\nexit 101\\n' > "$policy"
  chmod 755 "$policy"
fi
DEBIAN_FRONTEND=noninteractive
apt-get -q update || true
apt-get -q install -y --no-install-recommends "$0"
`

/** Why it cannot continue, as a sentence for the terminal. */
class Stop extends Error {}

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [command, ...args] = process.argv.slice(2)
const isForTests = command === 'test' || command === 'long'

try {
  if (!isAtLeast(process.version.slice(1), NODE_MIN))
    fail(`Node ${NODE_MIN} or newer is needed; this is ${process.version}.`)
  installPackages()
  if (isForTests) await provideForTests()
  else {
    provideRedis()
    await build()
  }
  await run()
} catch (error) {
  if (!(error instanceof Stop)) throw error
  say(error.message)
  process.exitCode = 1
}

/** Runs `npm ci` when `node_modules` differs from the lock file. */
function installPackages() {
  const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const stampFile = join(root, 'node_modules', '.quorumscan-stamp')
  const stamp = createHash('sha256')
    .update(`${process.platform} ${process.arch}\n${lockText}`)
    .digest('hex')
  if (readIfThere(stampFile) === stamp) return
  if (!isInstalled(JSON.parse(lockText))) {
    say('Installing the npm packages (npm ci) …')
    // NODE_ENV=production must not omit the compiler.
    npm(['ci', '--include=dev', '--no-audit', '--no-fund'])
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

/** $REDIS_SERVER or the one on the PATH, if it is new enough. */
function findRedis() {
  const wanted = process.env.REDIS_SERVER
  if (wanted) {
    if (isRedisNewEnough(wanted)) return wanted
    fail(`$REDIS_SERVER (${wanted}) is not redis-server ${REDIS_MIN} or newer.`)
  }
  const found = onPath('redis-server')
  return found !== undefined && isRedisNewEnough(found) ? found : null
}

function isRedisNewEnough(file) {
  const { stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' })
  const version = /v=([0-9]+\.[0-9]+)/.exec(stdout ?? '')
  return version !== null && isAtLeast(version[1], REDIS_MIN)
}

function provideRedis() {
  process.env.REDIS_SERVER = findRedis() ?? installRedis()
}

function installRedis() {
  const needed = `redis-server ${REDIS_MIN} or newer is needed`
  if (process.platform === 'darwin')
    fail(`${needed}: \`brew install redis\`, or set $REDIS_SERVER.`)
  if (!install('redis-server'))
    fail(
      `${needed}: install it (Debian, Ubuntu: \`apt-get install redis-server\`), or set $REDIS_SERVER.`,
    )
  return findRedis() ?? fail(`${needed}, but apt-get installed an older one.`)
}

async function provideForTests() {
  const { providePrograms } = await import(pathToFileURL(join(root, 'test/programs.mjs')).href)
  await providePrograms(command === 'test' ? args : [], {
    build,
    fail,
    install,
    onPath,
    provideRedis,
    say,
  })
}

/** Reports the build only when it takes longer than reading turbo's cache. */
async function build() {
  const words = ['run', 'build', '--ui=stream', '--output-logs=errors-only']
  // Only tests use the programs of this package.
  if (!isForTests) words.push('--filter=!@quorumscan/test')
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' }
  const turbo = spawn(join(root, 'node_modules', '.bin', 'turbo'), words, { cwd: root, env })
  const notice = setTimeout(() => say('Building …'), BUILD_NOTICE_MS)
  let output = ''
  for (const stream of [turbo.stdout, turbo.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const [exitCode] = await once(turbo, 'close')
  clearTimeout(notice)
  if (exitCode === 0) return
  process.stderr.write(output)
  fail('The build failed.')
}

async function run() {
  const cli = 'cluster/dist/processes/cli-main.js'
  const programs = {
    start: [cli, ['up', '--seed-names', ...args]],
    test: ['test/run.mjs', args],
    long: ['test/dist/long/main.js', args],
    cometbft: [cli, [command, ...args]],
  }
  const [file, words] = programs[command] ?? fail(`bootstrap: unknown command "${command}"`)
  const program = await import(pathToFileURL(join(root, file)).href)
  process.exitCode = await program.main(words)
}

function npm(npmArgs) {
  // The npm that runs this script, rather than another one on the PATH.
  const script = process.env.npm_execpath
  const [program, first] = script ? [process.execPath, [script]] : ['npm', []]
  const result = spawnSync(program, [...first, ...npmArgs], { cwd: root, stdio: ['ignore', 2, 2] })
  if (result.status !== 0) fail(`\`npm ${npmArgs.join(' ')}\` failed.`)
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

/**
 * Installs a package of Debian, whose services are not started, if this user may and agrees. Prints the output of apt-get
 * if it fails. Where CI is set, it does not ask.
 */
function install(debianPackage) {
  if (spawnSync('apt-get', ['--version']).status !== 0) return false
  if (!isRoot() && spawnSync('sudo', ['-n', 'true']).status !== 0) return false
  if (!process.env.CI && !isAgreed(`Install Debian's package ${debianPackage} as root?`))
    return false
  say(`Installing Debian's package ${debianPackage} (its services are not started) …`)
  const [program, first] = isRoot() ? ['sh', []] : ['sudo', ['-n', 'sh']]
  const result = spawnSync(program, [...first, '-c', INSTALL, debianPackage], { encoding: 'utf8' })
  if (result.status === 0) return true
  process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`)
  return false
}

/** Without a terminal: no. */
function isAgreed(question) {
  if (!process.stdin.isTTY) return false
  process.stderr.write(`${question} [y/N] `)
  const read = ['-c', 'read -r answer && [ "$answer" = y ]']
  return spawnSync('/bin/sh', read, { stdio: [0, 2, 2] }).status === 0
}

function isRoot() {
  return process.getuid?.() === 0
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
