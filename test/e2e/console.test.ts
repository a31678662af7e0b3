/**
 * The console in a browser: status, faults, lookups and registrations. All tests share one cluster, which is healed
 * before each. Each has a page of its own, which throws no error and sends no request to another host.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { untilTrue } from '@quorumscan/testkit'
import type { Browser, Page } from 'playwright-core'
import type { RunningCluster } from 'quorumscan/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchChromium, requireChromium } from '../support/chromium.ts'
import { startCluster } from '../support/clusters.ts'
import { runCommand } from '../support/command.ts'

/** Time for a node to start. It takes 1 to 2 s, and longer on a busy machine. */
const NODE_START_MS = 300_000

describe('the console', () => {
  let cluster: RunningCluster
  let browser: Browser
  let page: Page
  let axe: string
  let url: string
  /** Requests to other hosts or with a token in the URL, and errors of the page. */
  let unwanted: string[]

  beforeAll(async () => {
    requireChromium()
    cluster = await startCluster({ nodes: 4, probe: true })
    browser = await launchChromium()
    axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    url = (await cluster.status()).console?.url ?? ''
  })
  afterAll(async () => {
    await browser?.close()
    await cluster?.down()
  })
  beforeEach(async () => {
    await cluster.heal()
    unwanted = []
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    page.setDefaultTimeout(NODE_START_MS)
    page.on('request', (request) => {
      const asked = new URL(request.url())
      const isForeign = asked.host !== new URL(url).host && asked.protocol !== 'blob:'
      if (isForeign || (asked.href.includes('token=') && !asked.href.includes('#')))
        unwanted.push(asked.href)
    })
    page.on('pageerror', (error) => unwanted.push(String(error)))
    await page.goto(url)
    await budget('Lookups', 'Failures tolerated: 2').waitFor()
  })
  afterEach(async () => {
    await page.close()
    expect(unwanted).toEqual([])
  })

  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const budget = (label: string, text: string | RegExp) =>
    page.getByRole('listitem', { name: label, exact: true }).getByText(text, { exact: true })
  const choose = async (node: string, what: string) => {
    await button(`Actions for ${node}`).click()
    await button(what).click()
  }
  const kill = async (node: string) => {
    await choose(node, 'Kill …')
    await button(`Kill ${node}`).click()
  }
  /** Checks the current page with axe in both themes. */
  const assertAccessible = async (what: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      // Through the debugger, because the content security policy of the page refuses other scripts.
      await page.evaluate(axe)
      const violations = await page.evaluate(
        'axe.run().then(({violations}) => violations.map(({id, nodes}) => id + ": " + nodes.map(({html}) => html).join(" ")))',
      )
      expect(violations, `${what}, ${colorScheme}`).toEqual([])
    }
  }

  it('shows that too few nodes are up after three are killed, and the recovery', async () => {
    for (const node of ['sv-1', 'sv-2']) await kill(node)
    await budget('Lookups', 'No further failure tolerated').waitFor()
    await budget('Registrations', 'Quorum lost').waitFor()
    await kill('sv-3')
    const lost = budget('Lookups', /^Too few nodes/)
    await untilTrue('the console to show that too few nodes are up', () => lost.isVisible())
    await page.getByText('1 of 4 nodes up, 2 must agree').waitFor()
    await page
      .getByRole('list', { name: 'Events, newest first' })
      .getByText('too few nodes')
      .waitFor()
    // The status of a node that is down shows no earlier measurement.
    const { text } = await runCommand(cluster, 'status')
    expect(text).toMatch(/^sv-3 +down +- +\d+ +- +http/m)
    expect(text).not.toMatch(/^sv-[123] +lag/m)
    expect(text).toMatch(/^sv-4 +lag/m)
    await assertAccessible('too few nodes')
    await page.getByRole('button', { name: /^Heal all/ }).click()
    await budget('Lookups', 'Failures tolerated: 2').waitFor()
  })

  it('kills no node without a confirmation', { tags: ['rest'] }, async () => {
    await choose('sv-1', 'Kill …')
    await page.getByRole('dialog', { name: 'Kill sv-1?' }).waitFor()
    await assertAccessible('the confirmation')
    await button('Cancel').click()
    await choose('sv-2', 'Wipe …')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await cluster.faults()).toEqual([])
    expect((await cluster.status()).nodes.map(({ state }) => state)).not.toContain('down')
  })

  it('makes a node lie, and shows its dissent and correct lookups', {
    tags: ['rest'],
  }, async () => {
    await choose('sv-2', 'Break …')
    await page.getByRole('combobox', { name: 'Kind' }).focus()
    for (const _ of ['one', 'another']) await page.keyboard.press('ArrowDown')
    expect(await cluster.faults()).toEqual([])
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('lie deny')
    await page.getByRole('combobox', { name: 'Duration' }).first().selectOption('300')
    await button('Apply').click()
    await page.getByRole('cell', { name: 'lies: deny' }).waitFor()
    const [fault] = await cluster.faults()
    expect(fault?.endsAt).not.toBeNull()
    await page.getByText('4 of 4 nodes up, 1 faulty, 2 must agree').waitFor()
    await page.getByRole('textbox', { name: 'Name or party' }).fill('sv-1.sv.ns')
    // With all nodes, so that the votes include the node that lies.
    await page.getByRole('combobox', { name: 'Threshold' }).selectOption('all')
    await button('Look up').click()
    await page.getByText('verified', { exact: true }).waitFor()
    await page
      .getByRole('list', { name: 'Nodes asked for a proof' })
      .getByText('answered')
      .first()
      .waitFor()
    const votes = page.getByRole('list', { name: 'Votes' })
    await votes.getByText('for no entry').waitFor()
    await votes.getByText('contradicts').waitFor()
    await votes.getByText('as proven').first().waitFor()
    await page.getByText(/^Receipt: signed by sv-.* at offset \d+, \d+ bytes$/).click()
    await page.getByText(/"certificate": \{\s+"genesis_hash"/).waitFor()
    await page.getByText(/disagrees/).waitFor()
    await assertAccessible('a liar')
  })

  it('shows the details of a node: votes, certificate, log, queues, storage and messages', {
    tags: ['rest'],
  }, async () => {
    await choose('sv-1', 'View …')
    const view = page.getByRole('dialog', { name: 'sv-1' })
    await view.getByText(/^offset \d+ of .*, signed by sv-.* of 4\)$/).waitFor()
    await view.getByText(/B of memory, .*B on disk$/).waitFor()
    await view.getByText(/^[\d.]+ [KMGT]iB$/).waitFor()
    await view.getByText(/^Of the last \d+: \d+ agreed/).waitFor()
    await view.getByText('No job waits.').waitFor()
    await view.getByText(/\d\d:\d\d:\d\d info /).waitFor()
    await view.getByText('sv-1.redis', { exact: true }).click()
    await view.getByText(/ready to accept connections/i).waitFor()
    await assertAccessible('a node')
    await button('Close').click()
    await view.waitFor({ state: 'detached' })
  })

  it('completes a registration, and shows its confirmations, by keyboard alone', async () => {
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    await name.focus()
    await page.keyboard.type('dave')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Pay for it: accept the subscription request').waitFor()
    await assertAccessible('a registration')
    await page.getByText(/^[34] confirmed, 3 needed/).waitFor()
    await page.getByText('Look it up through the scan proxy').waitFor()
    await button('Actions for sv-4').focus()
    await page.keyboard.press('Enter')
    await button('Kill …').focus()
    await page.keyboard.press('Enter')
    await button('Kill sv-4').focus()
    await page.keyboard.press('Enter')
    await budget('Lookups', 'Failures tolerated: 1').waitFor()
    await choose('sv-4', 'View …')
    await page.getByText('unknown: not reported').waitFor()
    await page.getByText('none: refused').waitFor()
    await button('Close').click()
  })

  it('shows the verdict of a chaos run, and opens its report', { tags: ['rest'] }, async () => {
    await page.getByRole('textbox', { name: 'Seed' }).fill('console')
    await page.getByRole('combobox', { name: 'Duration' }).selectOption('10')
    await button('Start a run').click()
    await page.getByRole('progressbar', { name: 'Time of the chaos run' }).waitFor()
    await button('Stop the run').click()
    const runs = page.getByRole('list', { name: 'Chaos runs, newest first' })
    await runs.getByText(/^wrong answers served: 0/).waitFor()
    const [report] = await Promise.all([
      page.waitForEvent('popup'),
      button('Report of console').click(),
    ])
    await report.getByRole('heading', { name: /^Chaos run console: / }).waitFor()
    await report.close()
  })

  it('has no violation of axe and no horizontal overflow at 360 and 1280 px in both themes', {
    tags: ['rest'],
  }, async () => {
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      await assertAccessible(`${width} px`)
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      expect(overflow, `${width} px is wider than the screen`).toBe(0)
    }
  })

  it('shows the lookup before the nodes, and chaos runs last, at 360 px', {
    tags: ['rest'],
  }, async () => {
    await page.setViewportSize({ width: 360, height: 900 })
    const headings = await page.getByRole('heading', { level: 2 }).all()
    const placed = await Promise.all(
      headings.map(async (one) => ({
        title: await one.textContent(),
        y: (await one.boundingBox())?.y ?? 0,
      })),
    )
    const titles = placed.sort((a, b) => a.y - b.y).map(({ title }) => title)
    expect(titles.slice(0, 2)).toEqual(['Lookup', 'Nodes'])
    expect(titles.at(-1)).toBe('Chaos runs')
  })

  it('shows nothing without the token', async () => {
    const stranger = await browser.newPage()
    await stranger.goto(url.replace(/#.*/, '#token=00'))
    const refusal = stranger.getByText(/the token (of this address|is needed)/)
    await refusal.first().waitFor()
    expect(await stranger.getByRole('button', { name: /^Actions/ }).count()).toBe(0)
    await stranger.close()
  })
})
