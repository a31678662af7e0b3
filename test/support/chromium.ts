/** The Chromium of browser tests: $CHROMIUM, which `npm test` sets, or the first on the PATH. */
import { provided } from '@quorumscan/testkit'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'

/** Null if Chromium is missing, so that tests are skipped. With CI set this is an error. */
export const chromiumPath: string | null = provided('chromium')

const executablePath = chromiumPath ?? 'chromium'
/** Chromium's sandbox does not work as root in a container. */
const ARGUMENTS = ['--no-sandbox', '--disable-dev-shm-usage']

/** The caller closes the browser. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath, args: ARGUMENTS })
}

/** With one extension, unpacked in a directory, and a new profile. The caller closes it. */
export function launchExtension(directory: string, profile: string): Promise<BrowserContext> {
  const args = [...ARGUMENTS, `--disable-extensions-except=${directory}`]
  return chromium.launchPersistentContext(profile, {
    executablePath,
    args: [...args, `--load-extension=${directory}`],
    // Playwright disables all extensions by default.
    ignoreDefaultArgs: ['--disable-extensions'],
  })
}
