/** The table of sizes in README.md: the figure of the SDK is that of today, the others are of the pinned versions. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CLIENTS, figureIn, kilobytesOf, README, withFigure } from '../sizes/lookup-sizes.ts'
import { read } from './tree.ts'

/** gzip differs between versions of Node. */
const TOLERANCE = 0.03
const document = readFileSync(README, 'utf8')

it('a figure is replaced where it stands, and needs a place', () => {
  const text = '| viem | <!-- size of viem -->1.5 kB |'
  expect(withFigure(text, 'viem', '2.0')).toBe('| viem | <!-- size of viem -->2.0 kB |')
  expect(figureIn(text, 'viem')).toBe(1.5)
  expect(() => withFigure(text, 'ethers', '2.0')).toThrow(/No place for the size of ethers/)
})

it('the README has the size of a first lookup with the SDK', async () => {
  const now = Number(await kilobytesOf('quorumscan'))
  const difference = Math.abs(figureIn(document, 'quorumscan') - now) / now
  expect(difference, `It is ${now} kB. Run: npm run docs:sizes`).toBeLessThan(TOLERANCE)
})

it('the README compares with the clients that were measured', () => {
  const { devDependencies } = JSON.parse(read('test/package.json'))
  for (const client of CLIENTS) expect(figureIn(document, client), client).toBeGreaterThan(0)
  for (const name of ['viem', 'ethers'])
    expect(document, 'Run: npm run docs:sizes').toContain(`${name} ${devDependencies[name]}`)
})
