/** The table of sizes in README.md has the current size of the SDK, and those of pinned versions of other clients. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CLIENTS, figureIn, kilobytesOf, README, withFigure } from './lookup-sizes.ts'

/** gzip differs between versions of Node. */
const TOLERANCE = 0.03
const document = readFileSync(README, 'utf8')

it('a figure is replaced in its place, and an error without a place', () => {
  const text = '| viem | <!-- size of viem -->1.5 kB |'
  expect(withFigure(text, 'viem', '2.0')).toBe('| viem | <!-- size of viem -->2.0 kB |')
  expect(figureIn(text, 'viem')).toBe(1.5)
  expect(() => withFigure(text, 'ethers', '2.0')).toThrow(/No place for the size of ethers/)
})

it('the README has the current size of a first lookup with the SDK', async () => {
  const now = Number(await kilobytesOf('quorumscan'))
  const difference = Math.abs(figureIn(document, 'quorumscan') - now) / now
  expect(difference, `It is ${now} kB. Run: npm run docs:sizes`).toBeLessThan(TOLERANCE)
})

it('the README has the sizes and versions of all measured clients', () => {
  const { devDependencies } = JSON.parse(readFileSync('test/comparisons/package.json', 'utf8'))
  for (const client of CLIENTS) expect(figureIn(document, client), client).toBeGreaterThan(0)
  for (const name of ['viem', 'ethers'])
    expect(document, 'Run: npm run docs:sizes').toContain(`${name} ${devDependencies[name]}`)
})
