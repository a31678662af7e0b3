/** Evidence that this validator found (D-43), stored across restarts. Each find is an alarm for the operator. */
import type { Clock } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import type { LogClient } from '@quorumscan/log'
import { type Logger, repeat } from '@quorumscan/runtime'
import type { StoredText } from '@quorumscan/users'
import {
  createEvidenceLog,
  type Evidence,
  EvidenceError,
  type Genesis,
  verifyEvidence,
} from '@quorumscan/verifier'

export type EvidenceStore = Awaited<ReturnType<typeof createEvidenceStore>>

/**
 * Disposing waits until what was found is written.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if the store cannot be read.
 */
export async function createEvidenceStore(options: {
  readonly store: StoredText
  readonly onFound: (evidence: Evidence) => void
  /** What was found is in memory only, until the next find is written. */
  readonly onUnsaved: (error: unknown) => void
}) {
  const { store } = options
  const log = createEvidenceLog(JSON.parse((await store.load()) ?? '[]'))
  let isScheduled = false
  let saving = Promise.resolve()

  const save = async (): Promise<void> => {
    // What is found during this write goes with the next one.
    isScheduled = false
    await store.save(JSON.stringify(log.list())).catch(options.onUnsaved)
  }

  return {
    note(evidence: Evidence): void {
      if (!log.add(evidence)) return
      options.onFound(evidence)
      if (isScheduled) return
      isScheduled = true
      saving = saving.then(save)
    },
    list: (): Evidence[] => log.list(),
    [Symbol.asyncDispose]: (): Promise<void> => saving,
  }
}

/** Evidence does not expire, so it is not urgent. */
const ASK_MS = 10_000

/** Fetches what the synchronizer finds against ordering members: at once, and again until it is disposed of. */
export function followEvidence(options: {
  readonly log: Pick<LogClient, 'evidence'>
  readonly genesis: Genesis
  readonly note: (evidence: Evidence) => void
  readonly clock: Clock
  readonly logger: Logger
}): AsyncDisposable {
  const { clock, genesis, log, logger, note } = options
  const onError = (err: unknown): void => {
    if (!(err instanceof EvidenceError || isScanError(err))) throw err
    logger.warn({ err }, 'evidence of the synchronizer could not be fetched or verified')
  }
  const fetchEvidence = async (signal: AbortSignal): Promise<void> => {
    for (const piece of await log.evidence(signal)) {
      const evidence = piece as Evidence // Which is verified now.
      // A piece that proves nothing does not delay the others.
      await verifyEvidence(evidence, { genesis }).then(() => note(evidence), onError)
    }
  }
  return repeat(fetchEvidence, { clock, everyMs: ASK_MS, onError })
}
