/** The Chromium of browser tests: $CHROMIUM, which `npm test` sets, or the first on the PATH. */
import { provided } from '@quorumscan/testkit'
import { type Browser, chromium } from 'playwright-core'

/** Null if Chromium is missing, so that tests are skipped. With CI set this is an error. */
export const chromiumPath: string | null = provided('chromium')

/** The caller closes the browser. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath ?? 'chromium',
    // Chromium's sandbox does not work as root in a container.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
}
