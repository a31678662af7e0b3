/** The Chromium of the browser tests: `npm test` sets $CHROMIUM; without it the first on the PATH is taken. */
import { provided } from '@quorumscan/testkit'
import { type Browser, chromium } from 'playwright-core'

/** Null where Chromium is missing: the tests are skipped, never where CI is set. */
export const chromiumPath: string | null = provided('chromium')

/** Close it. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath ?? 'chromium',
    // Root, in a container: there is no other sandbox to be had.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
}
