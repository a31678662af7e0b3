/**
 * The rules of the name service of a running cluster: read as anybody reads them, changed as its
 * super-validators would change them, by a quorum of confirmations (D-23).
 *
 * The data directory owns the operator key of every super-validator, so the control plane confirms in the
 * name of each, and hands the submissions to the synchronizer itself: no node has to be up to agree.
 */
import { readFileSync } from 'node:fs'
import {
  type Clock,
  fromUtf8,
  type KeyPair,
  keyPairFromSeed,
  randomHex,
  systemRandom,
  utf8,
} from '@quorumscan/base'
import { type GenesisNode, quorumOf } from '@quorumscan/consensus'
import { isScanError } from '@quorumscan/errors'
import { createLogClient } from '@quorumscan/http'
import {
  type AnsRulesConfig,
  ansRules,
  confirmSetConfigCommand,
  svPartyOf,
} from '@quorumscan/ledger'
import { type ContractId, formatAmount, type Micros, parseAmount } from '@quorumscan/model'
import { signSubmission } from '@quorumscan/submit'
import { z } from 'zod'
import { ask } from '../ask.ts'
import { ClusterError } from '../cluster-error.ts'
import { CONTROL_PLANE, logTokenOf, type Prepared } from '../prepare.ts'

/** Lookups go on while nodes restart; after this an answer would surprise. */
const REQUEST_TIMEOUT_MS = 10_000
/** Confirmations take a few log entries. */
const CHANGE_TIMEOUT_MS = 20_000
const POLL_MS = 100
/** Confirmations that took no effect by then are made anew: the rules that they named were replaced. */
const CONFIRM_AGAIN_MS = 3_000
const NOT_AFTER_MICROS = 30_000_000

/** The config as it crosses the control plane: JSON has no bigints. */
export type AnsConfigWire = {
  readonly contractId: ContractId
  readonly config: {
    readonly entryFeeUsd: string
    readonly entryLifetimeMicros: Micros
    readonly renewalDurationMicros: Micros
    readonly descriptionPrefix: string
  }
}

/** What is left out stays as it is. */
export const ansConfigInput = z.strictObject({
  entryFeeUsd: z.string().optional(),
  entryLifetimeMicros: z.int().optional(),
  renewalDurationMicros: z.int().optional(),
  descriptionPrefix: z.string().optional(),
})
export type AnsConfigInput = z.infer<typeof ansConfigInput>

export type AnsConfigInForce = {
  readonly contractId: ContractId
  readonly config: AnsRulesConfig
}

export interface AnsConfigControl {
  /** What enough nodes agree on. @throws {ClusterError} If they cannot be asked. */
  get(): Promise<AnsConfigInForce>
  /**
   * Returns when lookups show the new rules. What is asked for already is in force at once.
   *
   * @throws {ClusterError} If the values are out of range, or the change does not take effect in time.
   */
  set(change: Partial<AnsRulesConfig>): Promise<AnsConfigInForce>
}

export function createAnsConfigControl(
  prepared: Prepared,
  { clock }: { readonly clock: Clock },
): AnsConfigControl {
  const proxyUrl = `http://127.0.0.1:${prepared.ports.validator}/v0/scan-proxy`

  const get = async (): Promise<AnsConfigInForce> => {
    const body = await askProxy(`${proxyUrl}/ans-rules`, {})
    const { contract } = (body as AnsRulesBody).ans_rules_update
    return {
      contractId: contract.contract_id,
      config: ansRules.type.decode(contract.payload, []).config,
    }
  }

  const confirm = async (current: ContractId, config: AnsRulesConfig): Promise<void> => {
    const { dso_rules } = (await askProxy(`${proxyUrl}/dso`)) as DsoBody
    const dsoRules = dso_rules.contract.contract_id
    await using synchronizer = createLogClient({
      url: `http://127.0.0.1:${prepared.ports.synchronizer}`,
      token: readFileSync(prepared.directory.secretFile(logTokenOf(CONTROL_PLANE)), 'utf8'),
    })
    const { nodes } = prepared.genesis
    for (const node of nodes.slice(0, quorumOf(nodes.length))) {
      const confirmer = svPartyOf(node)
      const command = confirmSetConfigCommand({ dsoRules, confirmer, ansRules: current, config })
      const { bytes } = signSubmission(
        {
          genesisHash: prepared.genesisHash,
          keyPair: operatorKeyOf(prepared, node),
          random: systemRandom,
        },
        {
          userId: node.name,
          actAs: [confirmer],
          readAs: [],
          commandId: randomHex(systemRandom, 16),
          submissionId: '',
          workflowId: '',
          deduplication: { kind: 'duration', micros: 0 },
          commands: [command],
          disclosed: [],
        },
        clock.nowMicros() + NOT_AFTER_MICROS,
      )
      await synchronizer.submit(bytes, AbortSignal.timeout(REQUEST_TIMEOUT_MS)).catch(refuse)
    }
  }

  return {
    get,
    async set(change) {
      const before = await get()
      const config = { ...before.config, ...change }
      if (ansRules.ensure?.({ dso: prepared.genesis.dso, config }) === false)
        throw new ClusterError(
          'the rules do not allow this: fee and durations are positive and within a century',
        )
      const wanted = textOf(config)
      const startedMs = clock.monotonicMs()
      let confirmAgainMs = startedMs
      for (;;) {
        const current = await get()
        if (textOf(current.config) === wanted) return current
        const nowMs = clock.monotonicMs()
        if (nowMs > startedMs + CHANGE_TIMEOUT_MS)
          throw new ClusterError(
            'the change was confirmed, but is not in force yet: look again with `quorumscan config get`',
          )
        if (nowMs >= confirmAgainMs) {
          confirmAgainMs = nowMs + CONFIRM_AGAIN_MS
          // A repeated confirmation changes nothing, so this may come too early.
          await confirm(current.contractId, config)
        }
        await clock.delay(POLL_MS)
      }
    },
  }
}

export function inForceToWire({ contractId, config }: AnsConfigInForce): AnsConfigWire {
  return {
    contractId,
    config: {
      entryFeeUsd: formatAmount(config.entryFee),
      entryLifetimeMicros: config.entryLifetime,
      renewalDurationMicros: config.renewalDuration,
      descriptionPrefix: config.descriptionPrefix,
    },
  }
}

/** @throws {ClusterError} If the fee is no amount, or the prefix no text of Unicode. */
export function changeOf(input: AnsConfigInput): Partial<AnsRulesConfig> {
  const { entryFeeUsd, entryLifetimeMicros, renewalDurationMicros, descriptionPrefix } = input
  const entryFee = entryFeeUsd === undefined ? undefined : parseAmount(entryFeeUsd)
  if (entryFeeUsd !== undefined && entryFee === undefined)
    throw new ClusterError('the fee is no amount in USD')
  if (descriptionPrefix !== undefined && fromUtf8(utf8(descriptionPrefix)) !== descriptionPrefix)
    throw new ClusterError('the prefix is no text')
  return {
    ...(entryFee === undefined ? {} : { entryFee }),
    ...(entryLifetimeMicros === undefined ? {} : { entryLifetime: entryLifetimeMicros }),
    ...(renewalDurationMicros === undefined ? {} : { renewalDuration: renewalDurationMicros }),
    ...(descriptionPrefix === undefined ? {} : { descriptionPrefix }),
  }
}

type AnsRulesBody = {
  readonly ans_rules_update: {
    readonly contract: { readonly contract_id: ContractId; readonly payload: unknown }
  }
}
type DsoBody = { readonly dso_rules: { readonly contract: { readonly contract_id: ContractId } } }

function textOf(config: AnsRulesConfig): string {
  return JSON.stringify([
    config.entryFee.toString(),
    config.entryLifetime,
    config.renewalDuration,
    config.descriptionPrefix,
  ])
}

function operatorKeyOf({ directory }: Prepared, { name }: GenesisNode): KeyPair {
  return keyPairFromSeed(readFileSync(directory.keyFile(`${name}.operator`), 'utf8').trim())
}

/** The JSON of a 200. */
async function askProxy(url: string, body?: object): Promise<unknown> {
  const answer = await ask(url, { timeoutMs: REQUEST_TIMEOUT_MS, body })
  if (answer.status === 200) return answer.body
  throw new ClusterError(
    answer.status === null
      ? 'the validator does not answer, so nobody can say which rules hold'
      : `${url}: ${answer.status}, ${Object(answer.body).error}`,
  )
}

function refuse(error: unknown): never {
  throw isScanError(error) ? new ClusterError(error.message, { cause: error }) : error
}
