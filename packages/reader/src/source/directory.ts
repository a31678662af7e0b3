/**
 * Learns where the nodes are and keeps it current while reads go on (D-34): any one live source is
 * enough, and no source is ever given up, so there is no state in which addresses cannot be learned
 * although a node that knows them lives.
 */

import type { CryptoPort } from '@quorumscan/verifier'
import { scansBytesMax } from '../answers/answer-sizes.ts'
import { parseJson } from '../answers/reply.ts'
import { ReaderError, type ReaderOptions } from '../reader-options.ts'
import { type Address, createAddressBook, recordsOfScans } from './address-book.ts'
import { parseNodeUrl } from './node-url.ts'
import { GET } from './transport.ts'

/** While every node answers; addresses change rarely, and an old one shows as a failing node. */
const REFRESH_MS = 30_000
/** While a node is failing, or has no address. */
const REFRESH_MS_UNEASY = 1000
/** For one that takes seconds to answer, on a bad link. */
const ASK_MS_MAX = 5000
/** From then on a request may be lost, and the next refresh asks again. */
const LOST_MS = 2500

export function createDirectory(options: {
  readonly reader: ReaderOptions
  readonly crypto: CryptoPort
  /** Aborted when the reader closes. */
  readonly signal: AbortSignal
  readonly onAddress: (address: Address) => void
  /** Told of an address that a node has signed and that is not taken, as it is private. */
  readonly onPrivate?: (address: Address) => void
}) {
  const { reader } = options
  const allowPrivate = reader.allowPrivateAddresses ?? false
  const seeds = reader.seeds.map((seed) => {
    const url = parseNodeUrl(seed, true)
    if (url === undefined)
      throw new ReaderError('INVALID_ARGUMENT', `a seed is no http or https URL: ${seed}`)
    return url
  })
  const book = createAddressBook({
    ...reader,
    crypto: options.crypto,
    allowPrivate,
    onPrivate: options.onPrivate,
  })
  const urlByName = new Map<string, string>()
  const asking = new Map<string, Promise<void>>()
  let refreshedAtMs = Number.NEGATIVE_INFINITY
  let learned = false
  let loaded: Promise<void> | undefined

  const take = async (records: readonly unknown[]): Promise<boolean> => {
    const addresses = await book.offer(records)
    for (const address of addresses) {
      urlByName.set(address.name, address.url)
      options.onAddress(address)
    }
    return addresses.length > 0
  }

  const load = async (): Promise<void> => {
    try {
      const records: unknown = await reader.addressStore?.load()
      if (Array.isArray(records)) await take(records)
    } catch {
      // Whatever is wrong with the store: the seeds remain.
    }
  }

  const ask = async (url: string): Promise<void> => {
    const abort = new AbortController()
    const giveUp = () => abort.abort(new Error('no answer'))
    const forget = () => asking.delete(url)
    // Both end when it has answered.
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
      const isNews = reply.status === 200 && (await take(recordsOfScans(parseJson(reply.body))))
      if (isNews) await reader.addressStore?.save(book.records())
    } catch {
      // A source that fails says nothing; the others and the next refresh remain. What cannot be kept is
      // learned again from the seeds.
    } finally {
      giveUp()
    }
  }

  return {
    /** Those of the reader, without trailing slash. */
    seeds,
    /** True until every source of the first round has answered or failed: addresses may still come. */
    isLearning: () => !learned,
    /** Asks all sources if it is time to, or at once; a source that hangs does not keep others waiting. */
    async refresh(how: { readonly isUneasy: boolean; readonly isForced?: boolean }): Promise<void> {
      const { isUneasy, isForced = false } = how
      const now = reader.clock.monotonicMs()
      const periodMs = isUneasy ? REFRESH_MS_UNEASY : REFRESH_MS
      if (!isForced && now - refreshedAtMs < periodMs) return
      refreshedAtMs = now
      loaded ??= load()
      await loaded
      for (const url of [...seeds, ...urlByName.values()])
        if (!asking.has(url)) asking.set(url, ask(url))
      await Promise.all(asking.values())
      learned = true
    },
  }
}
