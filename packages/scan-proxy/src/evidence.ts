/** Evidence that this validator came across (D-43), kept over restarts. A find is an alarm for the operator. */
import type { Clock } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import type { LogClient } from '@quorumscan/log'
import type { KeptText } from '@quorumscan/users'
import {
  createEvidenceLog,
  type Evidence,
  EvidenceError,
  type Genesis,
  verifyEvidence,
} from '@quorumscan/verifier'

export type EvidenceKeeper = AsyncDisposable & {
  note(evidence: Evidence): void
  list(): Evidence[]
}

/**
 * Disposing waits until what was found is written.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if the store cannot be read.
 */
export async function createEvidenceKeeper(options: {
  readonly store: KeptText
  readonly onFound: (evidence: Evidence) => void
  /** What was found is in memory only, until the next find is written. */
  readonly onUnsaved: (error: unknown) => void
}): Promise<EvidenceKeeper> {
  const { store } = options
  const log = createEvidenceLog(JSON.parse((await store.load()) ?? '[]'))
  let isScheduled = false
  let saving = Promise.resolve()

  const save = async (): Promise<void> => {
    // Whatever is found while this is written goes with the next write, all at once.
    isScheduled = false
    await store.save(JSON.stringify(log.list())).catch(options.onUnsaved)
  }

  return {
    note(evidence) {
      if (!log.add(evidence)) return
      options.onFound(evidence)
      if (isScheduled) return
      isScheduled = true
      saving = saving.then(save)
    },
    list: () => log.list(),
    [Symbol.asyncDispose]: () => saving,
  }
}

/** It proves the same later. */
const ASK_MS = 10_000

/** Takes over what the synchronizer finds against those who order. Begins at once, and goes on until it is disposed of. */
export function followEvidence(options: {
  readonly log: Pick<LogClient, 'evidence'>
  readonly genesis: Genesis
  readonly note: (evidence: Evidence) => void
  readonly clock: Clock
  readonly onProblem: (error: unknown) => void
}): AsyncDisposable {
  const { clock, genesis, log, note, onProblem } = options
  const closing = new AbortController()
  const { signal } = closing
  const tell = (error: unknown): void => {
    if (signal.aborted) return
    if (!(error instanceof EvidenceError || isScanError(error))) throw error
    onProblem(error)
  }
  const take = async (piece: unknown): Promise<void> => {
    const evidence = piece as Evidence // Which is verified now.
    await verifyEvidence(evidence, { genesis })
    note(evidence)
  }
  const look = async (): Promise<void> => {
    // What proves nothing keeps nothing else back.
    for (const piece of await log.evidence(signal)) await take(piece).catch(tell)
  }
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await look().catch(tell)
      await clock.delay(ASK_MS, signal).catch(() => {}) // Closing: the loop ends.
    }
  }
  const running = run()
  return {
    async [Symbol.asyncDispose]() {
      closing.abort()
      await running
    },
  }
}
