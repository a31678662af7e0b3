/** Reads of the newest applied state: what automation, wallets and command checks ask. */
import { AssertionError, bytesEqual, sha256, toHex, utf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { type DueItem, interpret, unknownVersion, WorkingState } from '@quorumscan/ledger'
import type { Contract, EntryResult, PartyId, Submission } from '@quorumscan/model'
import { canonicalJson, type Genesis, type Json } from '@quorumscan/verifier'
import type { Redis } from 'ioredis'
import { reach } from '../connection.ts'
import { decodeHead } from '../storage/head.ts'
import { contractIdOf } from '../storage/intern.ts'
import { dueKey, HEAD_FIELD, KEYS } from '../storage/keys.ts'
import { fetchCells } from './cells.ts'
import { readMoment, type Store } from './contracts.ts'

/** Contracts per command: what Redis does without noticeable delay for others. */
const PORTION = 1_000
/** A dry run that the head overtook is repeated so often. */
const DRY_RUN_ATTEMPTS = 3

export async function readContractsByKey(
  store: Store,
  key: string,
  limit: number,
): Promise<Contract[]> {
  const found: Contract[] = []
  let after: Uint8Array | undefined
  while (found.length < limit) {
    const count = Math.min(limit - found.length, PORTION)
    const range = { key, count, ...(after === undefined ? {} : { after }) }
    const [reply] = (await reach(readMoment(store, { keys: [range] }))).byKey
    found.push(...(reply?.contracts ?? []))
    after = reply?.next
    if (after === undefined) break
  }
  return found
}

/** In byte order, after a party. */
export async function readHostedParties(
  redis: Redis,
  { after, limit }: { readonly after: PartyId | ''; readonly limit: number },
): Promise<PartyId[]> {
  const from = after === '' ? '-' : `(${after}`
  return await reach(redis.zrange(KEYS.hosted, from, '+', 'BYLEX', 'LIMIT', 0, limit))
}

/** What the job is due for at or before the record time, by (time, contract id), after the cursor. */
export async function readDueItems(
  redis: Redis,
  query: {
    readonly job: string
    readonly limit: number
    readonly after: DueItem | null
    readonly recordTime: number
  },
): Promise<DueItem[]> {
  const { job, limit, after, recordTime } = query
  const found: DueItem[] = []
  // Items of one instant come from one transaction, so few are skipped here (1 000 nodes at most).
  for (let skipped = 0; found.length < limit; skipped += PORTION) {
    const min = after?.at ?? '-inf'
    const range = ['WITHSCORES', 'LIMIT', skipped, PORTION] as const
    const flat = await reach(redis.zrangebyscoreBuffer(dueKey(job), min, recordTime, ...range))
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const contractId = contractIdOf(flat[i] as Buffer)
      const item = { job, contractId, at: Number(flat[i + 1]) }
      if (after === null || isAfter(item, after)) found.push(item)
    }
    if (flat.length < 2 * PORTION) break
  }
  return found.slice(0, limit)
}

/** What the submission would do as the next entry. Its signature is not looked at. */
export async function dryRun(
  store: Store,
  submission: Submission,
  options: { readonly genesis: Genesis; readonly genesisHash: string; readonly now: number },
): Promise<EntryResult> {
  for (let attempt = 1; ; attempt++) {
    const { isOneMoment, result } = await rehearse(store, submission, options)
    const isLast = attempt === DRY_RUN_ATTEMPTS
    if (result !== null && (isOneMoment || isLast)) return result
    if (isLast)
      throw new ScanError('OVERLOADED', 'The ledger moves on faster than a command is tried.', {
        retryAfterSeconds: 1,
      })
  }
}

type Rehearsal = {
  /** False where the head moved between two fetches. */
  readonly isOneMoment: boolean
  /** Null where cells of two moments contradict each other. */
  readonly result: EntryResult | null
}

async function rehearse(
  store: Store,
  submission: Submission,
  options: { readonly genesis: Genesis; readonly genesisHash: string; readonly now: number },
): Promise<Rehearsal> {
  const { redis } = store
  const { genesis, genesisHash } = options
  const entryHash = toHex(sha256(utf8(canonicalJson(submission as unknown as Json))))
  const begin = await reach(redis.hgetBuffer(KEYS.names, HEAD_FIELD))
  if (begin === null) throw new ScanError('NOT_READY', 'The replica is empty.')
  const head = decodeHead(begin)
  const entry = {
    offset: head.offset + 1,
    recordTime: Math.max(head.recordTime + 1, options.now),
  }
  const decoded = { kind: 'submission', submission, entryHash } as const
  const view = new WorkingState()
  // Every write changes the bytes of the head.
  const isOneMoment = async () => {
    const end = await reach(redis.hgetBuffer(KEYS.names, HEAD_FIELD))
    return end !== null && bytesEqual(end, begin)
  }
  try {
    for (;;) {
      const interpretation = interpret({ entry, decoded, genesis, genesisHash, view })
      if (interpretation.kind === 'done')
        return { isOneMoment: await isOneMoment(), result: interpretation.result }
      if (interpretation.kind === 'unknown version') throw unknownVersion(interpretation.version)
      view.load(await reach(fetchCells(store, interpretation.keys)))
    }
  } catch (error) {
    // Interpretation trusts its cells to agree with each other.
    if (!(error instanceof AssertionError) || (await isOneMoment())) throw error
    return { isOneMoment: false, result: null }
  }
}

function isAfter(item: DueItem, after: DueItem): boolean {
  // Contract ids have one length and one case: their order is that of their bytes.
  return item.at === after.at ? item.contractId > after.contractId : item.at > after.at
}
