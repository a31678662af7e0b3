/**
 * What a page loads until its first answer, as Vite builds it, is within its limit, and the guide of the SDK has it.
 *
 * @module-tag rest
 */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { loadOf, PAGE_NAMES, type Page, pageIn, SDK_README, withPage } from './page-loads.ts'

/** Bytes until the first answer. */
const LIMITS: Readonly<Record<Page, number>> = {
  'a name': 24_000,
  'a name and a balance': 29_800,
  'a typed recipient': 30_100,
}
/** What no page needs for its first answer. */
const LATER = [
  ...(['outcome-error', 'names/lists', 'many-lookups', 'watch-state', 'parse-party'] as const),
  ...(['platform/shared-store', 'http-failures', 'wallet/wallet.ts', 'wallet/payments'] as const),
]
/** gzip differs between versions of Node. */
const TOLERANCE = 0.03
const document = readFileSync(SDK_README, 'utf8')

it.each(PAGE_NAMES)('a page with %s is within its limit, and in the guide', async (page) => {
  const { first, untilAnswer, files } = await loadOf(page)
  const shown = JSON.stringify(files.map(({ name, bytes }) => [name, bytes]))
  expect(untilAnswer, shown).toBeLessThanOrEqual(LIMITS[page])
  const stated = pageIn(document, page)
  for (const [bytes, kilobytes] of [
    [first, stated.first],
    [untilAnswer, stated.untilAnswer],
  ] as const) {
    const difference = Math.abs(kilobytes * 1_000 - bytes) / bytes
    expect(difference, `It is ${bytes} B. Run: npm run docs:sizes`).toBeLessThan(TOLERANCE)
  }
  const sources = files.flatMap((file) => Object.keys(file.sources)).join()
  expect(sources).toContain('names/names.ts')
  for (const later of LATER) expect(sources).not.toContain(later)
})

it('the figures of a page are replaced in their place, and an error without a place', () => {
  const text = '| x | <!-- page: a name -->1.0 kB | 2.5 kB |'
  const load = { first: 3_000, untilAnswer: 17_940, files: [] }
  expect(withPage(text, 'a name', load)).toBe('| x | <!-- page: a name -->3.0 kB | 17.9 kB |')
  expect(pageIn(text, 'a name')).toEqual({ first: 1, untilAnswer: 2.5 })
  expect(() => withPage('', 'a name', load)).toThrow(/No place for the page/)
})
