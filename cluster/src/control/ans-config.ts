/**
 * The rules of the name service of the cluster of one data directory. Its control plane owns the operator key of every
 * super-validator, so it confirms a change in the name of each, one after the other; no node has to be up to agree.
 */

import { type Clock, keyPairFromSeed } from '@quorumscan/base'
import type { AnsRulesConfig } from '@quorumscan/ledger'
import type { ContractId } from '@quorumscan/model'
import {
  areRulesEqual,
  changeRules,
  confirmRules,
  logTokenOf,
  readRules,
} from '@quorumscan/operator'
import { memberKeyFile } from '@quorumscan/operator/ceremony'
import { CommandError, readSecret } from '@quorumscan/runtime'
import { quorumOf } from '@quorumscan/verifier'
import { CONTROL_PLANE } from '../rig/cluster-shape.ts'
import type { Prepared } from '../rig/prepare.ts'

/** Confirmations take a few log entries. */
const CHANGE_TIMEOUT_MS = 20_000
const POLL_MS = 100
/** Confirmations without effect by then are made again: the rules that they named were replaced. */
const CONFIRM_AGAIN_MS = 3_000

export type AnsConfigControl = ReturnType<typeof createAnsConfigControl>

export function createAnsConfigControl(
  { directory, genesis, ports }: Prepared,
  { clock }: { readonly clock: Clock },
) {
  const rulesUrl = `http://127.0.0.1:${ports.validator}/v0/scan-proxy`
  /** What enough nodes agree on. @throws {CommandError} If they cannot be asked. */
  const get = () => readRules(rulesUrl)

  const confirmByQuorum = async (current: ContractId, config: AnsRulesConfig): Promise<void> => {
    const token = readSecret(directory.secretFile(logTokenOf(CONTROL_PLANE)))
    const synchronizer = { url: `http://127.0.0.1:${ports.synchronizer}`, token }
    for (const { name } of genesis.nodes.slice(0, quorumOf(genesis.nodes.length))) {
      const keyPair = keyPairFromSeed(readSecret(memberKeyFile(directory, name, 'operator')))
      const nowMicros = clock.nowMicros()
      await confirmRules({ genesis, keyPair, rulesUrl, synchronizer, current, config, nowMicros })
    }
  }

  return {
    get,
    /**
     * Returns when lookups show the new rules. What is asked for already is in force at once.
     *
     * @throws {CommandError} If the values are out of range, or the change does not take effect in time.
     */
    async set(change: Partial<AnsRulesConfig>) {
      const config = changeRules(genesis, (await get()).config, change)
      const startedMs = clock.monotonicMs()
      for (let confirmAgainMs = startedMs; ; await clock.delay(POLL_MS)) {
        const current = await get()
        if (areRulesEqual(current.config, config)) return current
        const nowMs = clock.monotonicMs()
        if (nowMs > startedMs + CHANGE_TIMEOUT_MS)
          throw new CommandError(
            'the change was confirmed, but is not in force yet: look again with `quorumscan config get`',
          )
        if (nowMs < confirmAgainMs) continue
        confirmAgainMs = nowMs + CONFIRM_AGAIN_MS
        // A repeated confirmation changes nothing, so this may come too early.
        await confirmByQuorum(current.contractId, config)
      }
    },
  }
}
