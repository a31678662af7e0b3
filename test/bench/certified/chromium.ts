/** Measures the verification in Chromium. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import { chromiumPath, launchChromium } from '../../browser/chromium.ts'
import type { ToVerify, verifyMs } from './verify.ts'

declare const measure: typeof verifyMs // Defined in the page.

/** Runs `verifyMs` in Chromium. Returns null if Chromium is missing. */
export async function verifyMsInChromium(input: ToVerify): Promise<number | null> {
  if (chromiumPath === null) return null
  const { outputFiles } = await build({
    stdin: {
      contents: `import { verifyMs } from './verify.js'; globalThis.measure = verifyMs`,
      resolveDir: import.meta.dirname,
    },
    conditions: ['@quorumscan/source'],
    bundle: true,
    format: 'iife',
    write: false,
  })
  // WebCrypto is only available in a secure context, such as a page of a local server.
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>reader</title>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' })
    return await page.evaluate((one) => measure(JSON.parse(one)), JSON.stringify(input))
  } finally {
    await browser.close()
    server.close()
  }
}
