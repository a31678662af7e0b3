/**
 * The rules of the name service of a local cluster. The control plane has the operator key of every super-validator. It
 * confirms a change with the keys of the first q members, one after the other, whether their nodes run or not.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Clock, keyPairFromSeed } from '@quorumscan/base'
import type { ContractId } from '@quorumscan/model'
import {
  type AnsConfig,
  type AnsConfigInput,
  changeRules,
  confirmRules,
  logTokenOf,
  readRules,
} from '@quorumscan/operator'
import { memberKeyFile } from '@quorumscan/operator/ceremony'
import { CommandError, readSecret } from '@quorumscan/runtime'
import { memberSetOf } from '@quorumscan/verifier'
import { CONTROL_PLANE } from '../rig/cluster-shape.ts'
import type { Prepared } from '../rig/prepare.ts'

/** Confirmations take a few log entries. */
const CHANGE_TIMEOUT_MS = 20_000
const POLL_MS = 100
/** Confirmations without effect by then are repeated: the rules that they named were replaced. */
const CONFIRM_AGAIN_MS = 3_000

/** Reads and changes the rules through the validator and the log. */
export function createAnsConfigControl(prepared: Prepared, clock: Clock) {
  const { directory, genesis } = prepared
  const rulesUrl = `${prepared.validatorUrl}/v0/scan-proxy`
  /** The rules that enough nodes agree on. @throws {CommandError} If they cannot be reached. */
  const get = () => readRules(rulesUrl)

  const confirmByQuorum = async (current: ContractId, config: AnsConfig): Promise<void> => {
    const token = readSecret(directory.secretFile(logTokenOf(CONTROL_PLANE)))
    const synchronizer = { url: prepared.synchronizerUrl, token, trust: null }
    for (const { name } of memberSetOf(genesis).members.slice(0, memberSetOf(genesis).quorum)) {
      const keyPair = keyPairFromSeed(readSecret(memberKeyFile(directory, name, 'operator')))
      const nowMicros = clock.nowMicros()
      await confirmRules({ genesis, keyPair, rulesUrl, synchronizer, current, config, nowMicros })
    }
  }

  return {
    get,
    /**
     * Returns when lookups show the new rules; at once if they already do.
     *
     * @throws {CommandError} If the values are out of range, or the change does not take effect in time.
     */
    async set(change: AnsConfigInput) {
      const config = changeRules(genesis, (await get()).config, change)
      const startedMs = clock.monotonicMs()
      for (let confirmAgainMs = startedMs; ; await clock.delay(POLL_MS)) {
        const current = await get()
        if (isDeepStrictEqual(current.config, config)) return current
        const nowMs = clock.monotonicMs()
        if (nowMs > startedMs + CHANGE_TIMEOUT_MS)
          throw new CommandError(
            'the change was confirmed, but is not in force yet: check it with `quorumscan config get`',
          )
        if (nowMs < confirmAgainMs) continue
        confirmAgainMs = nowMs + CONFIRM_AGAIN_MS
        // A repeated confirmation changes nothing, so an early one does no harm.
        await confirmByQuorum(current.contractId, config)
      }
    },
  }
}
