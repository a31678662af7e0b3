// Requirements of tests: a build, Redis, Chromium. Tests look for programs in packages/testkit/src/requirements.ts. The
// syntax of this file must parse on old versions of Node.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** The kinds of tests (vitest.config.ts), and what must be there before they run. */
const NEEDS = {
  check: ['chromium'],
  unit: [],
  sdk: [],
  tidy: [],
  vectors: [],
  sim: [],
  parity: [],
  integration: ['redis'],
  consumer: ['sdk', 'build', 'redis'],
  conformance: ['build', 'redis'],
  attacks: ['build', 'redis'],
  suites: ['build', 'redis', 'chromium'],
  e2e: ['build', 'redis', 'chromium'],
  browser: ['build', 'redis', 'chromium'],
}

export const KINDS = Object.keys(NEEDS)

const CHROMIUM_NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/**
 * What the arguments of `npm test` name before the first option. Vitest takes that option and all that follows.
 *
 * @returns `unknown`: the first word that is neither a kind nor the path of a file or a folder.
 */
export function readArguments(args) {
  const firstOption = args.findIndex((arg) => arg.startsWith('-'))
  const end = firstOption < 0 ? args.length : firstOption
  const words = args.slice(0, end)
  const kinds = words.filter((word) => word in NEEDS)
  const files = words
    .filter((word) => !(word in NEEDS))
    .map((word) => relative(root, resolve(root, word)))
  const unknown = files.find((file) => !existsSync(join(root, file)))
  return { kinds, files, options: args.slice(end), unknown }
}

/**
 * Provides what the named tests need; without names, what all tests need. Programs are looked for by functions of
 * `cluster/bootstrap.mjs`, which imports this file.
 */
export async function providePrograms(args, tools) {
  const { fail, onPath, say, build, provideRedis } = tools
  const { kinds, files, unknown } = readArguments(args)
  if (unknown !== undefined)
    fail(
      `There is no file and no kind of test named ${unknown}; the kinds are: ${Object.keys(NEEDS).join(', ')}.`,
    )
  if (kinds.length > 0 && files.length > 0)
    fail(`Name kinds (${kinds.join(', ')}) or files (${files.join(', ')}), not both.`)
  const named = kinds.length > 0 ? kinds.flatMap((kind) => NEEDS[kind]) : files.flatMap(needsOf)
  const isNeeded = (need) => kinds.length + files.length === 0 || named.includes(need)
  if (isNeeded('chromium')) provideChromium()
  if (isNeeded('redis')) await provideRedis()
  if (isNeeded('build')) await build()
  if (isNeeded('sdk')) buildSdk()

  /** Compiles the SDK's package, unless turbo has it for these sources. */
  function buildSdk() {
    const turbo = join(root, 'node_modules', '.bin', 'turbo')
    const words = ['run', 'build', '--ui=stream', '--output-logs=errors-only']
    const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' }
    const { status, stdout, stderr } = spawnSync(turbo, words, { cwd: root, env, encoding: 'utf8' })
    if (status !== 0) fail(`${stdout}${stderr}The build of the SDK failed.`)
  }

  /**
   * Sets $CHROMIUM for the tests. If Chromium is missing, browser tests are skipped with a message. If $CI is set, the
   * command fails.
   */
  function provideChromium() {
    const found = findChromium()
    if (found !== null) process.env.CHROMIUM = found
    else if (process.env.CI) fail('Chromium is needed for the browser tests: set $CHROMIUM.')
    else
      say(
        'Chromium is missing: browser tests are SKIPPED. Install it (Debian: `apt-get install chromium`), or set $CHROMIUM.',
      )
  }

  /** $CHROMIUM, or the first one on the PATH that runs (without snap, Ubuntu's is a stub). */
  function findChromium() {
    const wanted = process.env.CHROMIUM
    if (wanted) {
      if (isChromium(wanted)) return wanted
      fail(`$CHROMIUM (${wanted}) is no Chromium that runs.`)
    }
    const files = CHROMIUM_NAMES.map(onPath).filter((file) => file !== undefined)
    if (process.platform === 'darwin')
      files.push('/Applications/Google Chrome.app/Contents/MacOS/Google Chrome')
    return files.find(isChromium) ?? null
  }

  function isChromium(file) {
    const { status, stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' })
    return status === 0 && /Chrom(e|ium) [0-9]/.test(stdout)
  }
}

/** What a file, or each file of a folder, needs. */
function needsOf(path) {
  const file = join(root, path)
  if (statSync(file).isDirectory())
    return readdirSync(file)
      .filter((name) => name !== 'node_modules')
      .flatMap((name) => needsOf(join(path, name)))
  const [top, next] = path.split(sep)
  const isIntegration = path.endsWith('.integration.test.ts')
  const kind = { test: next, sdk: 'sdk' }[top] ?? (isIntegration ? 'integration' : 'unit')
  return path.endsWith('.test.ts') ? (NEEDS[kind] ?? []) : []
}
