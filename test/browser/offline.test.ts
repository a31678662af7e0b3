/** A browser verifies a stored document ten years later with only the genesis document. */
import { serve } from '@quorumscan/testkit'
import { beforeAll, describe, expect, it } from 'vitest'
import { launchChromium, requireChromium } from '../support/chromium.ts'
import { buildVerifier, readStored, type Verify } from '../support/offline-verifier.ts'

declare const verify: Verify // Defined in the page.

const IN_TEN_YEARS = '2036-11-22T00:00:00Z'

describe('in Chromium, with the network off', () => {
  beforeAll(requireChromium)

  it('a stored document verifies ten years later, and a forged one does not', async () => {
    const browser = await launchChromium()
    // WebCrypto is only available in a secure context, such as a page of a local server.
    await using server = await serve((_, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>archive</title>')
    })
    try {
      const page = await browser.newPage()
      await page.clock.setFixedTime(IN_TEN_YEARS)
      await page.goto(`${server.url}/`)
      await page.addScriptTag({ content: await buildVerifier() })
      await page.context().setOffline(true)
      await server[Symbol.asyncDispose]()
      expect(await page.evaluate('new Date().getFullYear()')).toBe(2036)
      expect(await page.evaluate(() => fetch('/').then(String, String))).toContain(
        'Failed to fetch',
      )

      const stored = readStored()
      const results = await page.evaluate(async (text) => {
        const { genesis, vectors }: ReturnType<typeof readStored> = JSON.parse(text)
        const answers: unknown[] = []
        for (const vector of vectors)
          answers.push(
            await verify(genesis, vector).then(
              ({ answer }) => ({ answer }),
              () => ({ refused: true }),
            ),
          )
        return answers
      }, JSON.stringify(stored))
      expect(results).toEqual(
        stored.vectors.map((vector) =>
          'refuse' in vector ? { refused: true } : { answer: vector.answer },
        ),
      )
    } finally {
      await browser.close()
    }
  })
})
