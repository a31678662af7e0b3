// Programs that tests need in addition to those of the product: Chromium, and in CI others. Tests look for them in
// packages/testkit/src/requirements.ts. The syntax of this file must parse on old versions of Node.

import { spawnSync } from 'node:child_process'

const CHROMIUM_NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
/**
 * Programs of tests (packages/testkit/src/requirements.ts), with their Debian packages. Only CI installs them;
 * contributors do not need them.
 */
const TEST_PROGRAMS = [
  ['promtool', 'prometheus'],
  ['python3', 'python3'],
  ['openssl', 'openssl'],
  ['ip', 'iproute2'],
  ['mount', 'mount'],
  ['setpriv', 'util-linux'],
]
/** The kinds of tests (vitest.config.ts) that open a browser. */
const BROWSER_KINDS = ['browser', 'e2e']

/**
 * Provides the programs of these kinds of tests. Default: all kinds. Functions of `cluster/bootstrap.mjs`, which
 * imports this file, look for programs and install them.
 */
export function providePrograms(kinds, { fail, install, mayInstall, onPath, say }) {
  if (opensBrowser(kinds)) provideChromium()
  if (process.env.CI) provideTestPrograms()

  function provideTestPrograms() {
    for (const [program, debianPackage] of TEST_PROGRAMS) {
      if (onPath(program) !== undefined) continue
      const needed = `CI is set, and tests need ${program} of Debian's package ${debianPackage}`
      if (process.platform === 'darwin' || !mayInstall()) fail(`${needed}: install it.`)
      say(
        `Installing Debian's package ${debianPackage}, for tests (its services are not started) …`,
      )
      if (!install(debianPackage) || onPath(program) === undefined)
        fail(`${needed}, and apt-get could not install it.`)
    }
  }

  /** Whether the requested kinds of tests need Chromium. Without arguments all kinds are requested. */
  function opensBrowser(testArgs) {
    const kinds = testArgs.filter((arg) => !arg.startsWith('--'))
    return kinds.length === 0 || kinds.some((kind) => BROWSER_KINDS.includes(kind))
  }

  /**
   * Sets $CHROMIUM for the tests. If Chromium is missing and cannot be installed, browser tests are skipped with a
   * message. If $CI is set, the command fails.
   */
  function provideChromium() {
    const found = findChromium() ?? installChromium()
    if (found !== null) process.env.CHROMIUM = found
    else if (process.env.CI) fail('Chromium is needed for the browser tests: set $CHROMIUM.')
    else
      say(
        'Chromium is missing and could not be installed: browser tests are SKIPPED. Install it or set $CHROMIUM.',
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

  function installChromium() {
    if (process.platform === 'darwin' || !mayInstall()) return null
    say("Installing Debian's package chromium, for the browser tests …")
    return install('chromium') ? findChromium() : null
  }
}
