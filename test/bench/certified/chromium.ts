/** Measures the verification in Chromium. */
import { join } from 'node:path'
import { provided, serve } from '@quorumscan/testkit'
import { bundleScript } from '../../support/bundle.ts'
import { launchChromium } from '../../support/chromium.ts'
import { ROOT } from '../../support/root.ts'
import type { ToVerify, verifyMs } from './verify.ts'

declare const measure: typeof verifyMs // Defined in the page.

/** Runs `verifyMs` in Chromium. Returns null if Chromium is missing. */
export async function verifyMsInChromium(input: ToVerify): Promise<number | null> {
  if (provided('chromium') === null) return null
  const script = await bundleScript(
    `import { verifyMs } from './verify.ts'; globalThis.measure = verifyMs`,
    join(ROOT, 'test/bench/certified'),
    { isFromSources: true },
  )
  // WebCrypto is only available in a secure context, such as a page of a local server.
  await using server = await serve((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>reader</title>')
  })
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    await page.goto(`${server.url}/`)
    await page.addScriptTag({ content: script })
    return await page.evaluate((one) => measure(JSON.parse(one)), JSON.stringify(input))
  } finally {
    await browser.close()
  }
}
