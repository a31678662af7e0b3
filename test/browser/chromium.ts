/** The Chromium of the browser tests: `npm test` sets $CHROMIUM; by hand the Debian one is found. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const DEBIAN = '/usr/bin/chromium'

/** null: there is none; then the tests are skipped, never where CI is set. */
export const chromiumPath: string | null =
  process.env['CHROMIUM'] || (existsSync(DEBIAN) ? DEBIAN : null)

if (chromiumPath === null) {
  if (process.env['CI']) throw new Error('Chromium is needed: set $CHROMIUM.')
  process.stderr.write('No Chromium here: the browser tests are SKIPPED.\n')
}

/** Close it. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath ?? 'chromium',
    // Root, in a container: there is no other sandbox to be had.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
}
