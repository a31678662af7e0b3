/**
 * Learns the addresses of the nodes and keeps them current (D-34). One live source is enough, and no source is ever
 * given up, so addresses are learned as long as one node that knows them is alive. All are asked at once, because one that
 * lies can withhold what another one knows. A source that answers with anything but a list, or that is silent for 150 ms
 * while others complete the addresses, is not asked for a minute while another one is there.
 */

import { type CryptoPort, linkedController, memberSetOf } from '@quorumscan/verifier'
import { scansBytesMax } from '../answers/answer-sizes.ts'
import { parseJson } from '../answers/reply.ts'
import { ReaderError, type ReaderOptions } from '../reader-options.ts'
import { type Address, createAddressBook, recordsOfScans } from './address-book.ts'
import { askAll } from './ask-all.ts'
import { BodyTooLargeError } from './body-pieces.ts'
import { parseNodeUrl, shownUrl, urlProblem } from './node-url.ts'
import { GET } from './transport.ts'

/** While every node answers. Addresses change rarely, and a node with an old one fails. */
const REFRESH_MS = 30_000
/** While a node is failing, or has no address. */
const REFRESH_MS_URGENT = 1000
/** For a source that takes seconds to answer, on a bad link. */
const ASK_MS_MAX = 5000
/** After this time a request may be lost: the source hangs, also where no other one answers. */
const LOST_MS = 2500
/** How long a source without a list, or one that hangs, is not asked. One that answers late is. */
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
  let listCount = 0
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

  const penalize = (url: string) => penaltyUntilMs.set(url, reader.clock.monotonicMs() + PENALTY_MS)

  const ask = async (url: string): Promise<void> => {
    const abort = linkedController(options.signal)
    const giveUp = () => abort.abort()
    const forget = () => asking.delete(url)
    const lose = () => {
      forget()
      penalize(url)
    }
    // Both delays end when the source has answered.
    reader.clock.delay(LOST_MS, abort.signal).then(lose, forget)
    reader.clock.delay(ASK_MS_MAX, abort.signal).then(giveUp, giveUp)
    try {
      const reply = await reader.transport.request({
        ...GET,
        url,
        path: '/v0/scans',
        bytesMax: scansBytesMax(memberSetOf(reader.genesis).n),
        isPublicOnly: !allowPrivate && !seeds.includes(url),
        signal: abort.signal,
      })
      // 5xx and 429 are of a server, or its proxy, that cannot answer now.
      if (reply.status >= 500 || reply.status === 429) return
      const records = reply.status === 200 ? recordsOfScans(parseJson(reply.body)) : null
      if (records === null) return void penalize(url)
      const isNew = await addRecords(records)
      listCount++
      penaltyUntilMs.delete(url)
      if (isNew) await reader.addressStore?.save(book.records())
    } catch (error) {
      // The other sources and the next refresh remain. Addresses that cannot be stored are learned again.
      if (error instanceof BodyTooLargeError) penalize(url)
    } finally {
      giveUp()
    }
  }

  return {
    /** Seeds of the reader, without trailing slash. */
    seeds,
    /** True until the first round has ended: addresses may still come. */
    isLearning: () => !learned,
    /**
     * Asks all sources if a refresh is due, or at once. The round ends when all have answered or failed; when another one
     * has answered and no address is missing, it waits no longer than 150 ms for the silent ones.
     */
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
      const listCountBefore = listCount
      const silent = await askAll({
        sources: new Set(usable.length > 0 ? usable : urls),
        clock: reader.clock,
        ask(url) {
          const answer = asking.get(url) ?? ask(url)
          asking.set(url, answer)
          return answer
        },
        isEnough: () => listCount > listCountBefore && book.isComplete(),
      })
      for (const url of silent) penalize(url)
      learned = true
    },
  }
}
