/**
 * The SDK in a real browser, in a page of another origin with a strict Content Security Policy. It resolves, proves,
 * follows and renders while a node is killed, and no lookup needs a preflight.
 */
import { join } from 'node:path'
import type { Validator } from '@quorumscan/sdk'
import { startCluster, type TestCluster } from '@quorumscan/sdk/testing'
import { serve, slowness, type TestServer } from '@quorumscan/testkit'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { bundlePage } from '../support/bundle.ts'
import { launchChromium, requireChromium } from '../support/chromium.ts'
import type { wallet as PageWallet } from './page.ts'
import { startSendPage } from './send-page.ts'

declare const wallet: typeof PageWallet // Defined in the page.

const ALICE = 'alice.unverified.ns'
const HOUR_MICROS = 3_600_000_000
const CSP = "default-src 'none'; script-src 'self'; connect-src http://127.0.0.1:* ws://127.0.0.1:*"

describe('in Chromium', () => {
  let cluster: TestCluster
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let server: TestServer
  let party: string
  const preflights: string[] = []
  const problems: string[] = []

  beforeAll(async () => {
    requireChromium()
    // Names can be renewed immediately.
    const names = { entryLifetimeMicros: HOUR_MICROS, renewalDurationMicros: HOUR_MICROS }
    cluster = await startCluster({ nodes: 4, genesisOverrides: { names } })
    const alice = cluster.validator('alice')
    await alice.wallet.party()
    await alice.wallet.tap({ usd: '10.0' })
    party = (await alice.names.register({ name: ALICE })).party
    const scripts = await bundlePage(
      {
        page: join(import.meta.dirname, 'page.ts'),
        payee: join(import.meta.dirname, '../../sdk/examples/payee.ts'),
        recipient: join(import.meta.dirname, '../../sdk/examples/recipient.ts'),
      },
      { minify: true },
    )
    server = await serve((request, response) => {
      const script = scripts.get(request.url ?? '')
      response.writeHead(200, {
        'content-type': script === undefined ? 'text/html' : 'text/javascript',
        'content-security-policy': CSP,
      })
      response.end(
        script ??
          '<!doctype html><title>wallet</title><script type="module" src="/page.js"></script>',
      )
    })
    browser = await launchChromium()
    context = await browser.newContext()
    page = await context.newPage()
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => {
      if (/Content Security Policy|blocked by CORS/.test(message.text()))
        problems.push(message.text())
    })
    const devtools = await context.newCDPSession(page)
    await devtools.send('Network.enable')
    devtools.on('Network.requestWillBeSent', ({ type, request }) => {
      if (type === 'Preflight') preflights.push(request.url)
    })
    await page.goto(`${server.url}/`)
    const { seeds, genesisHash } = cluster
    await page.evaluate((options) => wallet.connect(options), { seeds, genesisHash })
  })
  afterAll(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
    await cluster?.down()
  })

  it('resolves a name and its absence without a preflight', async () => {
    expect(await page.evaluate((name) => wallet.resolve(name), ALICE)).toBe(party)
    expect(await page.evaluate(() => wallet.resolve('missing.unverified.ns'))).toBeNull()
    expect(preflights).toEqual([])
  })

  it('proves an answer offline', async () => {
    const { genesis } = cluster
    const signers = await page.evaluate(([name, document]) => wallet.verify(name, document), [
      ALICE,
      genesis,
    ] as const)
    expect(signers.length).toBeGreaterThanOrEqual(2)
  })

  it('shows a payee whose name and party are proven', { tags: ['rest'] }, async () => {
    await page.evaluate(([name, owner]) => wallet.show(name, owner), [ALICE, party] as const)
    await page.waitForFunction(
      (text) => document.querySelector('#payee')?.textContent === text,
      `proven ${party} proven ${ALICE}`,
    )
  })

  it.each([
    ['payee', ALICE, '::', () => `proven: ${party}`],
    ['recipient', `localnet:cns:${ALICE}`, `to ${ALICE}`, () => `Send to ${ALICE} (${party})`],
  ] as const)('runs the unchanged example %s of the README', async (name, typed, part, text) => {
    const asked = [name, typed, part] as const
    expect(await page.evaluate((all) => wallet.showExample(...all), asked)).toBe(text())
  })

  /** The texts that are shown for each fixed answer, as many as expected. */
  const showFixed = (kind: 'payees' | 'reverses', expected: Record<string, readonly string[]>) => {
    const counts = Object.entries(expected).map(([title, texts]) => [title, texts.length])
    const entries = Object.fromEntries(counts) as Record<string, number>
    return page.evaluate(([fixed, count]) => wallet.showFixed(fixed, count), [
      kind,
      entries,
    ] as const)
  }

  it('shows a party only while it is proven', { tags: ['rest'] }, async () => {
    const alice = `alice::1220${'a'.repeat(64)}`
    const expected = {
      'nothing is typed': ['pending null'],
      'what is typed can be no name': ['INVALID_NAME null'],
      'enough nodes agree': ['pending null', `proven ${alice}`],
      'there are too few nodes': ['pending null', `proven ${alice}`],
      'the name has a new owner': ['pending null', 'changed null'],
      'it has no entry': ['pending null', 'absent null'],
      'the entry ends': ['pending null', `proven ${alice}`, 'NAME_EXPIRED null'],
      'it has another party': ['pending null', 'NAME_MISMATCH null'],
      'nodes are unreachable': ['pending null', 'NOT_ENOUGH_NODES null'],
      'the lookup fails': ['pending null', 'APPLICATION_FAILED null'],
      'the answer cannot be renewed': ['pending null', `proven ${alice}`, 'stale null'],
      'the next answer fails': ['pending null', `proven ${alice}`, 'APPLICATION_FAILED null'],
    }
    expect(await showFixed('payees', expected)).toEqual(expected)
  })

  it('looks up only the first text and the one at which typing pauses', {
    tags: ['rest'],
  }, async () => {
    const parts = ['a', 'al', 'ali', 'alic', 'alice']
    expect(await page.evaluate((texts) => wallet.type(texts), parts)).toEqual([
      'a.unverified.ns',
      'alice.unverified.ns',
    ])
  })

  it('suggests names that begin with the typed text', { tags: ['rest'] }, async () => {
    const search = (...texts: string[]) => page.evaluate((typed) => wallet.search(typed), texts)
    expect(await search('a', 'al', 'ali')).toBe(`proven ${ALICE}`)
    expect(await search('missing')).toBe('proven ')
    expect(await search('аlice')).toBe('INVALID_NAME ')
    expect(await search('')).toBe('pending ')
  })

  it('reports that the device is offline once its answer is too old, and recovers when it is online', {
    tags: ['rest'],
  }, async () => {
    const untilShown = (shown: string) =>
      page.waitForFunction(
        (text) => document.querySelector('#watched')?.textContent === text,
        shown,
      )
    await page.evaluate(() => wallet.watchReason())
    await untilShown('proven')
    onTestFinished(() => context.setOffline(false))
    await context.setOffline(true)
    await untilShown('stale OFFLINE')
    await context.setOffline(false)
    await untilShown('proven')
  })

  it('stores every name that several tabs look up at the same time', {
    tags: ['rest'],
  }, async () => {
    const names = Array.from({ length: 12 }, (_, index) => `tab-${index}`)
    const tabs = await Promise.all(names.slice(0, 3).map(() => context.newPage()))
    await Promise.all(tabs.map((tab) => tab.goto(page.url())))
    await Promise.all(
      names.map((name, index) =>
        (tabs[index % tabs.length] as Page).evaluate((text) => wallet.remember(text), name),
      ),
    )
    // Tabs see each other's writes late, and restore overwritten names.
    await page.waitForFunction(
      (all) => all.every((name) => wallet.remembered().includes(name)),
      names,
    )
    await Promise.all(tabs.map((tab) => tab.close()))
  })

  it('separates the answers of two networks in one page', { tags: ['rest'] }, async () => {
    expect(await page.evaluate(() => wallet.showTwoNetworks())).toBe(
      `proven alice::1220${'a'.repeat(64)} / absent null`,
    )
  })

  it('shows a name only if it resolves to the party', { tags: ['rest'] }, async () => {
    const expected = {
      'there is no party': ['pending null'],
      'it has a name that leads back': ['pending null', 'proven a.unverified.ns'],
      'the name has a new owner': ['pending null', 'changed null'],
      'it has none': ['pending null', 'absent null'],
      'the lookup fails': ['pending null', 'APPLICATION_FAILED null'],
    }
    expect(await showFixed('reverses', expected)).toEqual(expected)
    expect(await page.evaluate(() => wallet.showWithoutNames())).toMatch(/NamesProvider/)
  })

  it('registers and renews a name by hooks, which show steps, payment and errors', async () => {
    const dora = cluster.validator('dora')
    await dora.wallet.party()
    await dora.wallet.tap({ usd: '10.0' })
    const options = { url: cluster.validatorUrl, token: await cluster.token('dora') }
    const write = (hook: 'register' | 'renew', name: string) =>
      page.evaluate((asked) => wallet.write(...asked), [hook, name, options] as const)

    const registered = await write('register', 'dora')
    expect(registered).toEqual(
      expect.arrayContaining(['pending requested not-paid', 'pending requested paid locked']),
    )
    expect(registered.at(-1)).toBe('success requested paid active paid')
    const renewed = await write('renew', 'dora')
    expect(renewed).toContain('pending paid locked')
    expect(renewed.at(-1)).toBe('success paid paid')

    expect((await write('register', 'alice')).at(-1)).toBe('error not-paid NAME_TAKEN')
    expect((await write('renew', 'alice')).at(-1)).toBe('error not-paid CONTRACT_NOT_FOUND')
  })

  it('follows a stream while a node is killed, and continues to resolve', {
    tags: ['rest'],
  }, async () => {
    const activityCount = 8
    const following = page.evaluate((count) => wallet.follow(count), activityCount)
    const aliceSees = { url: cluster.validatorUrl, token: await cluster.token('alice'), party }
    const updating = page.evaluate((options) => wallet.updates(options, 5), aliceSees)
    await page.waitForSelector('#activities[data-count]', { state: 'attached' })
    await cluster.kill('sv-2')
    const bob = cluster.validator('bob')
    await bob.wallet.party()
    const tap = async ({ wallet: own }: Validator, count: number) => {
      for (let taps = 0; taps < count; taps++) await own.tap({ usd: '1.0' })
    }
    await Promise.all([tap(bob, activityCount - 2), tap(cluster.validator('alice'), 2)])
    const offsets = await updating
    expect(offsets).toEqual([...new Set(offsets)].sort((a, b) => a - b))
    expect(offsets).toHaveLength(5)
    const ids = await following
    expect(ids).toEqual([...new Set(ids)].sort())
    expect(ids).toHaveLength(activityCount)
    expect(await page.evaluate((name) => wallet.resolve(name), ALICE)).toBe(party)
    await cluster.restart('sv-2')
  })

  it('fails if no node is reachable', { tags: ['rest'] }, async () => {
    // Before that, the SDK reads the genesis. The page can still load the parts that it needs.
    expect(await page.evaluate((name) => wallet.resolve(name), ALICE)).toBe(party)
    const isNode = ({ origin }: URL) => origin !== server.url
    onTestFinished(() => context.unroute(isNode))
    await context.route(isNode, (route) => route.abort())
    const code = page.evaluate(async () => {
      const outcome = await wallet.lookup('missing.unverified.ns')
      return outcome.kind === 'failed' ? outcome.error.code : outcome.kind
    })
    expect(await code).toBe('NETWORK_ERROR')
  })

  it('the example page registers and sends with dead nodes, and asks in all tabs before it pays a new owner', async () => {
    const nodes = ['sv-1', 'sv-2', 'sv-3', 'sv-4']
    const card = (tab: Page, name: string) => tab.getByRole('region', { name })
    const type = (tab: Page, to: string) => card(tab, 'Send coin').getByLabel('To').fill(to)
    const untilShown = (tab: Page, text: string) => tab.getByText(text).first().waitFor()
    const sending = (tab: Page) => card(tab, 'Send coin').getByRole('button', { name: 'Send' })

    await using example = await startSendPage(cluster, 'carol')
    await using tabs = await browser.newContext()
    tabs.setDefaultTimeout(60_000 * slowness())
    const open = async () => {
      const tab = await tabs.newPage()
      await tab.goto(`${example.url}?user=carol`)
      return tab
    }
    const tab = await open()
    await tab.getByRole('button', { name: 'Get coin' }).click()
    await cluster.kill('sv-1')
    await card(tab, 'Your names').getByRole('textbox').fill('carol')
    await tab.getByRole('button', { name: 'Register' }).click()
    await untilShown(tab, 'carol.unverified.ns is yours')

    await cluster.kill('sv-2')
    await type(tab, `localnet:cns:${ALICE}`)
    await untilShown(tab, 'Proven to this page')
    await sending(tab).click()
    await untilShown(tab, '1.0 coin offered')
    await card(tab, 'History').getByText(`Offered to ${ALICE}`).waitFor()

    // The device remembers another owner. This address of the page runs none of its code.
    await tab.goto(`${example.url}session/carol`)
    await tab.evaluate(
      ([from, to]) => {
        for (const [key, value] of Object.entries(localStorage))
          localStorage.setItem(key, String(value).replaceAll(from, to))
      },
      [party, cluster.genesis.dso] as const,
    )
    const [first, second] = [await open(), await open()]
    for (const each of [first, second]) {
      await type(each, 'alice')
      await untilShown(each, `${ALICE} has another owner`)
      expect(await sending(each).isDisabled()).toBe(true)
    }
    await first.getByRole('button', { name: 'Accept the new owner' }).click()
    for (const each of [first, second]) await untilShown(each, 'Proven to this page')

    await Promise.all(nodes.slice(2).map((node) => cluster.kill(node)))
    await type(first, 'dso.ns')
    await untilShown(first, 'Not verified')
    expect(await sending(first).isDisabled()).toBe(true)
    await Promise.all(nodes.map((node) => cluster.restart(node)))
    await untilShown(first, 'Proven to this page')
  })

  it('stores the read floor in the storage of the page, and does not violate its policy', {
    tags: ['rest'],
  }, async () => {
    expect(await page.evaluate((name) => wallet.resolve(name), ALICE)).toBe(party)
    expect(await page.evaluate(() => wallet.stored())).toContain(
      `quorumscan:${cluster.genesisHash.slice(0, 16)}:floor`,
    )
    expect(problems).toEqual([])
  })
})
