/** What a submission would do as the next entry, interpreted against the newest applied state. */
import { AssertionError, bytesEqual, sha256, toHex, utf8 } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { interpret, unknownVersion, WorkingState } from '@quorumscan/ledger'
import type { Submission } from '@quorumscan/model'
import { canonicalJson, type Genesis } from '@quorumscan/verifier'
import { reach } from '../connection.ts'
import { decodeHead } from '../storage/head.ts'
import { readHeadBytes } from '../storage/head-reads.ts'
import { fetchCells } from './cells.ts'
import { headMoved, type Store } from './contracts.ts'

/** Attempts while the head moves during a dry run. */
const DRY_RUN_ATTEMPTS = 3

type Options = { readonly genesis: Genesis; readonly genesisHash: string; readonly now: number }

/** What the submission would do as the next entry, with its result. Its signature is not looked at. */
export async function dryRun(store: Store, submission: Submission, options: Options) {
  for (let attempt = 1; ; attempt++) {
    const { isConsistent, done } = await dryRunOnce(store, submission, options)
    const isLast = attempt === DRY_RUN_ATTEMPTS
    if (done !== null && (isConsistent || isLast)) return done
    if (isLast) throw headMoved('try the command')
  }
}

/**
 * `isConsistent` is false if the head moved between two fetches, `done` null if cells of two moments contradict
 * each other.
 */
async function dryRunOnce(store: Store, submission: Submission, options: Options) {
  const { genesis, genesisHash } = options
  const entryHash = toHex(sha256(utf8(canonicalJson(submission))))
  const begin = await reach(readHeadBytes(store.redis))
  if (begin === null) throw new ScanError('NOT_READY', 'The replica is empty.')
  const head = decodeHead(begin)
  const entry = { offset: head.offset + 1, recordTime: Math.max(head.recordTime + 1, options.now) }
  const decoded = { kind: 'submission', submission, entryHash } as const
  const view = new WorkingState()
  // Every write changes the bytes of the head.
  const isConsistent = async () => {
    const end = await reach(readHeadBytes(store.redis))
    return end !== null && bytesEqual(end, begin)
  }
  try {
    for (;;) {
      const interpretation = interpret({ entry, decoded, genesis, genesisHash, view })
      if (interpretation.kind === 'done')
        return { isConsistent: await isConsistent(), done: interpretation }
      if (interpretation.kind === 'unknown version') throw unknownVersion(interpretation.version)
      view.load(await reach(fetchCells(store, interpretation.keys)))
    }
  } catch (error) {
    // Interpretation trusts its cells to agree with each other.
    if (!(error instanceof AssertionError) || (await isConsistent())) throw error
    return { isConsistent: false, done: null }
  }
}
