/** The Chromium of browser tests: $CHROMIUM, which `npm test` sets, or the first on the PATH. */
import { required } from '@quorumscan/testkit'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'

/** Before all tests of a browser: they are skipped if Chromium is missing. With CI set this is an error. */
export function requireChromium(): void {
  required('chromium')
}

/** Chromium's sandbox does not work as root in a container. */
const ARGUMENTS = ['--no-sandbox', '--disable-dev-shm-usage']

/** The caller closes the browser. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: required('chromium'), args: ARGUMENTS })
}

/** With one extension, unpacked in a directory, and a new profile. The caller closes it. */
export function launchExtension(directory: string, profile: string): Promise<BrowserContext> {
  const args = [...ARGUMENTS, `--disable-extensions-except=${directory}`]
  return chromium.launchPersistentContext(profile, {
    executablePath: required('chromium'),
    args: [...args, `--load-extension=${directory}`],
    // Playwright disables all extensions by default.
    ignoreDefaultArgs: ['--disable-extensions'],
  })
}
