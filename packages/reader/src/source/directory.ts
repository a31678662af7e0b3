/**
 * Learns the addresses of the nodes and keeps them current (D-34). One live source is enough, and no source is ever
 * given up, so addresses are learned as long as one node that knows them is alive. A source that answers with anything
 * but a list is not asked for a minute while another one is there.
 */

import type { CryptoPort } from '@quorumscan/verifier'
import { scansBytesMax } from '../answers/answer-sizes.ts'
import { parseJson } from '../answers/reply.ts'
import { ReaderError, type ReaderOptions } from '../reader-options.ts'
import { type Address, createAddressBook, recordsOfScans } from './address-book.ts'
import { parseNodeUrl, shownUrl, urlProblem } from './node-url.ts'
import { GET } from './transport.ts'

/** While every node answers. Addresses change rarely, and a node with an old one fails. */
const REFRESH_MS = 30_000
/** While a node is failing, or has no address. */
const REFRESH_MS_URGENT = 1000
/** For a source that takes seconds to answer, on a bad link. */
const ASK_MS_MAX = 5000
/** After this time a request may be lost, and the next refresh sends another one. */
const LOST_MS = 2500
/** How long a source without a list is not asked. */
const PENALTY_MS = 60_000

export function createDirectory(options: {
  readonly reader: ReaderOptions
  readonly crypto: CryptoPort
  /** Aborted when the reader closes. */
  readonly signal: AbortSignal
  readonly onAddress: (address: Address) => void
  /** Called with a signed address that is refused because it is private. */
  readonly onPrivate?: (address: Address) => void
}) {
  const { reader } = options
  const allowPrivate = reader.allowPrivateAddresses ?? false
  const seeds = reader.seeds.map((seed) => {
    const url = parseNodeUrl(seed, true)
    if (url === undefined)
      throw new ReaderError('INVALID_ARGUMENT', `a seed ${urlProblem(seed)}: ${shownUrl(seed)}`)
    return url
  })
  const book = createAddressBook({
    ...reader,
    crypto: options.crypto,
    allowPrivate,
    onPrivate: options.onPrivate,
  })
  const asking = new Map<string, Promise<void>>()
  const penaltyUntilMs = new Map<string, number>()
  let refreshedAtMs = Number.NEGATIVE_INFINITY
  let learned = false
  let loaded: Promise<void> | undefined

  const addRecords = async (records: readonly unknown[]): Promise<boolean> => {
    const addresses = await book.add(records)
    for (const address of addresses) options.onAddress(address)
    return addresses.length > 0
  }

  const load = async (): Promise<void> => {
    try {
      const records: unknown = await reader.addressStore?.load()
      if (Array.isArray(records)) await addRecords(records)
    } catch {
      // Without the store, the seeds remain.
    }
  }

  const ask = async (url: string): Promise<void> => {
    const abort = new AbortController()
    const giveUp = () => abort.abort(new Error('no answer'))
    const forget = () => asking.delete(url)
    // Both delays end when the source has answered.
    reader.clock.delay(LOST_MS, abort.signal).then(forget, forget)
    reader.clock.delay(ASK_MS_MAX, abort.signal).then(giveUp, giveUp)
    try {
      const reply = await reader.transport.request({
        ...GET,
        url,
        path: '/v0/scans',
        bytesMax: scansBytesMax(reader.genesis.nodes.length),
        isPublicOnly: !allowPrivate && !seeds.includes(url),
        signal: AbortSignal.any([abort.signal, options.signal]),
      })
      // 5xx and 429 are of a server, or its proxy, that cannot answer now.
      if (reply.status >= 500 || reply.status === 429) return
      const records = reply.status === 200 ? recordsOfScans(parseJson(reply.body)) : null
      if (records === null) penaltyUntilMs.set(url, reader.clock.monotonicMs() + PENALTY_MS)
      else if (await addRecords(records)) await reader.addressStore?.save(book.records())
    } catch {
      // The other sources and the next refresh remain. Addresses that cannot be stored are learned again.
    } finally {
      giveUp()
    }
  }

  return {
    /** Seeds of the reader, without trailing slash. */
    seeds,
    /** True until every source of the first round has answered or failed: addresses may still come. */
    isLearning: () => !learned,
    /** Asks all sources if a refresh is due, or at once. A hung source does not delay the others. */
    async refresh(how: { readonly isUrgent: boolean; readonly isForced?: boolean }): Promise<void> {
      const { isUrgent, isForced = false } = how
      const now = reader.clock.monotonicMs()
      const periodMs = isUrgent ? REFRESH_MS_URGENT : REFRESH_MS
      if (!isForced && now - refreshedAtMs < periodMs) return
      refreshedAtMs = now
      loaded ??= load()
      await loaded
      const urls = [...seeds, ...book.urls()]
      for (const [url, untilMs] of penaltyUntilMs) if (untilMs <= now) penaltyUntilMs.delete(url)
      const usable = urls.filter((url) => !penaltyUntilMs.has(url))
      for (const url of usable.length > 0 ? usable : urls)
        if (!asking.has(url)) asking.set(url, ask(url))
      await Promise.all(asking.values())
      learned = true
    },
  }
}
