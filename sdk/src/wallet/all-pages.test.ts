/** Lists of the wallet end, whatever the validator answers, and keep the timeout of their call. A server answers from memory. */
import { describe, expect, it } from 'vitest'
import { createHttp } from '../http/http.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { PAGES_MAX } from './all-pages.ts'
import { listOwnEntries } from './own-names.ts'
import { createWallet } from './wallet.ts'

const PAGE_MS = 400
const NO_ROWS = { subscriptions: [], coins: [], locked_coins: [], transfers: [], entries: [] }

/** A wallet whose pages are answered at once. */
function walletOf(pageOf: (count: number) => unknown) {
  const url = 'https://validator.test'
  let count = 0
  return createWallet(
    createHttp({
      url,
      ledgerUrl: url,
      token: 'token',
      fetchOf: async () => async () => Response.json(pageOf(count++)),
      clock: systemClock,
      random: Math.random,
      timeoutMs: 10_000,
    }),
  )
}

/** `next`: the token of the page after the one with this number. */
function world(next: (page: number) => string | null) {
  let nowMs = 0
  let pages = 0
  const timeouts: number[] = []
  /** No timeout passes: a page takes its time, and is then there. */
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    delay: (ms) => {
      timeouts.push(ms)
      return new Promise(() => {})
    },
  }
  const url = 'https://validator.test'
  const http = createHttp({
    url,
    ledgerUrl: url,
    token: 'token',
    fetchOf: async () => async () => {
      nowMs += PAGE_MS
      return Response.json({ ...NO_ROWS, next_page_token: next(pages++) })
    },
    clock,
    random: Math.random,
    timeoutMs: 10_000,
  })
  const wallet = createWallet(http)
  const lists = {
    subscriptions: wallet.subscriptions,
    coins: wallet.coins,
    transfers: wallet.transfers,
    names: (options?: Parameters<typeof wallet.subscriptions>[0]) => listOwnEntries(http, options),
  }
  return { lists, timeouts, pages: () => pages }
}

describe('the list of transactions', () => {
  const item = (eventId: string) => ({
    transaction_type: 'notification',
    transaction_subtype: { template_id: '', choice: '', coin_operation: null, interface_id: null },
    event_id: eventId,
    date: '2026-01-01T00:00:00.000000Z',
    details: '',
  })
  /** `pages`: the ids of the events of each page, and then again from the first. */
  const read = async (...pages: readonly (readonly string[])[]) => {
    const wallet = walletOf((count) => ({
      items: (pages[count % pages.length] ?? []).map(item),
    }))
    const found: string[] = []
    for await (const { eventId } of wallet.transactions({ pageSize: 2 }))
      if (found.push(eventId) > 99) break
    return found
  }

  it('ends with a page without rows', async () => {
    expect(await read(['5', '4'], ['3'], [])).toEqual(['5', '4', '3'])
  })

  it.each([
    ['a page twice', [['5', '4']]],
    [
      'pages in turn',
      [
        ['5', '4'],
        ['3', '2'],
      ],
    ],
    ['a row twice', [['5', '5']]],
    ['a newer row', [['5', '6']]],
  ])('fails if the validator answers with %s', async (_, pages) => {
    await expect(read(...pages)).rejects.toMatchObject({ code: 'INVALID_RESPONSE' })
  })
})

const NAMES = ['subscriptions', 'coins', 'transfers', 'names'] as const

describe.each(NAMES)('the list of %s', (name) => {
  it('fails at the second page that names itself as the next one', async () => {
    const { lists, pages } = world(() => 'again')
    await expect(lists[name]()).rejects.toMatchObject({ code: 'INVALID_RESPONSE' })
    expect(pages()).toBe(2)
  })

  it('fails after a number of pages if each one names another', async () => {
    const { lists, pages } = world(String)
    await expect(lists[name]()).rejects.toMatchObject({ code: 'INVALID_RESPONSE' })
    expect(pages()).toBe(PAGES_MAX)
  })

  it('gives each page what is left of the timeout', async () => {
    const { lists, timeouts } = world((page) => (page < 3 ? String(page) : null))
    await lists[name]({ timeoutMs: 1000 })
    expect(timeouts).toEqual([1000, 600, 200, 0])
    const own = world((page) => (page < 1 ? String(page) : null))
    await own.lists[name]()
    expect(own.timeouts).toEqual([10_000, 9600])
  })
})
