/** Evidence that this validator came across (D-43), kept over restarts. A find is an alarm for the operator. */
import { createEvidenceLog, type Evidence } from '@quorumscan/consensus'
import type { KeptText } from '@quorumscan/users'

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
