/**
 * The documentation site in Chromium: every kind of page, at two widths and in both themes, fits and is accessible. With
 * `npm run test:long` all pages, at each width in each theme.
 * @module-tag rest
 */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { isLong, serve, type TestServer } from '@quorumscan/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium, requireChromium } from '../support/chromium.ts'

const ROOT = join(import.meta.dirname, '../..')
const SITE = join(ROOT, 'docs/.vitepress/dist')
/** One page of each kind: prose, tables, diagrams, pictures, generated references. */
const PAGES = [
  'index',
  'start',
  'about',
  'guides/wallet',
  'guides/sdk',
  'operations',
  'configuration',
  'architecture',
  'decisions/proofs',
  'reference/validator',
  'reference/websockets',
  'reference/metrics',
  'reference/errors',
  'reference/sdk/main',
]
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}
/** Widths, each with its themes. */
const VIEWS: [number, readonly ('light' | 'dark')[]][] = [
  [390, isLong ? ['light', 'dark'] : ['light']],
  [1280, isLong ? ['dark', 'light'] : ['dark']],
]

describe('the documentation site', () => {
  let server: TestServer
  let browser: Browser
  let origin: string
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

  beforeAll(async () => {
    requireChromium()
    // Turbo builds it only if something has changed.
    await promisify(execFile)(join(ROOT, 'node_modules/.bin/turbo'), ['run', 'site'], { cwd: ROOT })
    server = await serve((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://site')
      const file = join(SITE, pathname === '/' ? 'index.html' : decodeURIComponent(pathname))
      if (!existsSync(file)) return void response.writeHead(404).end()
      response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream')
      response.end(readFileSync(file))
    })
    origin = server.url
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  it.each(VIEWS)(
    'fits into %i px and has no violation of axe: %j',
    {
      tags: ['site'],
    },
    async (width, themes) => {
      const pages = isLong ? allPages() : PAGES
      const page = await browser.newPage({ viewport: { width, height: 900 } })
      const problems: string[] = []
      page.on('pageerror', (error) => problems.push(`${page.url()}: ${error}`))
      page.on('response', (response) => {
        if (!response.ok()) problems.push(`${page.url()}: ${response.status()} ${response.url()}`)
      })
      for (const name of pages) {
        await page.goto(`${origin}/${name}.html`)
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        for (const colorScheme of themes) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          // Of the rules of axe, only color-contrast depends on the theme.
          const rules = colorScheme === themes[0] ? null : ['color-contrast']
          for (const problem of await problemsOf(page, { axe, rules }))
            problems.push(`${name}, ${width} px, ${colorScheme}: ${problem}`)
        }
      }
      expect(problems).toEqual([])
      await page.close()
    },
  )

  it('finds a page by search, by keyboard alone', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    await page.goto(`${origin}/`)
    await page.getByRole('button', { name: 'Search' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('searchbox').fill('a damaged log')
    const isWanted = (text: string) => text.includes('A damaged log')
    await page.getByRole('option').filter({ hasText: 'A damaged log' }).first().waitFor()
    // The first result is selected.
    const results = await page.getByRole('option').allTextContents()
    for (const _ of results.slice(0, results.findIndex(isWanted)))
      await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'A damaged log' }).waitFor()
    await page.close()
  })
})

function allPages(): string[] {
  return readdirSync(SITE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.html') && file !== '404.html')
    .map((file) => file.slice(0, -'.html'.length))
}

/** Violations of these axe rules (null: of all), overflow, and pictures without content, in the current theme. */
async function problemsOf(
  page: Page,
  { axe, rules }: { readonly axe: string; readonly rules: readonly string[] | null },
): Promise<readonly string[]> {
  await page.evaluate(axe)
  // What passes is not shown, so axe need not describe it.
  const shown = { resultTypes: ['violations'], selectors: false }
  const options = rules === null ? shown : { ...shown, runOnly: rules }
  return page.evaluate(`(async () => {
    const { violations } = await axe.run(${JSON.stringify(options)})
    const root = document.documentElement
    const overflow = root.scrollWidth - root.clientWidth
    const empty = [...document.images].filter((image) => image.complete && image.naturalWidth === 0)
    return [
      ...violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')),
      ...(overflow > 0 ? [overflow + ' px wider than the screen'] : []),
      ...empty.map(({ src }) => 'no picture at ' + src),
    ]
  })()`)
}
