/**
 * What super-validators change together (D-23): the rules of the name service, and the version of the protocol. Each
 * confirms with its own key. What a quorum has confirmed alike is in force.
 */

import {
  type ClientTls,
  fromUtf8,
  type KeyPair,
  randomHex,
  systemRandom,
  utf8,
} from '@quorumscan/base'
import { isScanError, type ScanError } from '@quorumscan/errors'
import { describeFailure } from '@quorumscan/errors/node-words'
import {
  type AnsRulesConfig,
  ansRules,
  confirmSetConfigCommand,
  svPartyOf,
} from '@quorumscan/ledger'
import { createLogClient } from '@quorumscan/log'
import type { Command, ContractId, PartyId } from '@quorumscan/model'
import { formatAmount, formatDuration, parseAmount } from '@quorumscan/model'
import { ask, CommandError, messageOf } from '@quorumscan/runtime'
import { signSubmission } from '@quorumscan/submit'
import type { Genesis } from '@quorumscan/verifier'
import { memberOf, memberSetOf } from '@quorumscan/verifier'
import { z } from 'zod'
import { hashGenesis } from './genesis.ts'

/** Lookups continue while nodes restart; an answer later than this is not expected. */
const REQUEST_TIMEOUT_MS = 10_000
const NOT_AFTER_MICROS = 30_000_000
const NOT_FOUND = 404

/** Rules to change. A rule that is left out stays as it is. */
export const ansConfigInput = z.strictObject({
  entryFeeUsd: z.exactOptional(z.string()),
  entryLifetimeMicros: z.exactOptional(z.int()),
  renewalDurationMicros: z.exactOptional(z.int()),
  descriptionPrefix: z.exactOptional(z.string()),
})
export type AnsConfigInput = z.infer<typeof ansConfigInput>
/** The rules of the name service as JSON, which has no bigints. */
export type AnsConfig = Required<AnsConfigInput>

export type RulesInForce = { readonly contractId: ContractId; readonly config: AnsConfig }

export function ansConfigOf(config: AnsRulesConfig): AnsConfig {
  return {
    entryFeeUsd: formatAmount(config.entryFee),
    entryLifetimeMicros: config.entryLifetime,
    renewalDurationMicros: config.renewalDuration,
    descriptionPrefix: config.descriptionPrefix,
  }
}

/** @throws {CommandError} If the fee is not an amount, or the prefix is not Unicode text. */
function ledgerConfigOf(config: AnsConfig): AnsRulesConfig {
  const { entryFeeUsd, entryLifetimeMicros, renewalDurationMicros, descriptionPrefix } = config
  const entryFee = parseAmount(entryFeeUsd)
  if (entryFee === undefined) throw new CommandError('the fee must be an amount in USD')
  if (fromUtf8(utf8(descriptionPrefix)) !== descriptionPrefix)
    throw new CommandError('the prefix must be Unicode text')
  return {
    entryFee,
    entryLifetime: entryLifetimeMicros,
    renewalDuration: renewalDurationMicros,
    descriptionPrefix,
  }
}

/**
 * The rules in force.
 *
 * @param url - Of a scan node, or of the proxy to several: what comes before `/ans-rules`.
 * @throws {CommandError} If it does not answer.
 */
export async function readRules(url: string): Promise<RulesInForce> {
  const { ans_rules_update: update } = await askFor(`${url}/ans-rules`, rulesAnswer, {})
  const { contract_id: contractId, payload } = update.contract
  return { contractId, config: ansConfigOf(ansRules.type.decode(payload, []).config) }
}

/**
 * The rules after a change, in their normal form.
 *
 * @throws {CommandError} If the ledger does not allow them, or a name would be paid for several times at once.
 */
export function changeRules(
  { dso }: Pick<Genesis, 'dso'>,
  before: AnsConfig,
  change: AnsConfigInput,
): AnsConfig {
  const config = ledgerConfigOf({ ...before, ...change })
  if (ansRules.ensure?.({ dso, config }) === false)
    throw new CommandError(
      'nothing was changed: the ledger accepts a fee above 0, durations above 0 and within a century, and a description ' +
        'prefix of at most 140 characters. Set the rules to values within these limits',
    )
  // The ledger allows it: a refusal there would require a new protocol version.
  if (config.renewalDuration > config.entryLifetime)
    throw new CommandError(
      `nothing was changed: the renewal window (renewal-duration, ${formatDuration(config.renewalDuration)}) would be ` +
        `longer than the lifetime of a name (entry-lifetime, ${formatDuration(config.entryLifetime)}), and a name that ` +
        'renews itself would pay for several periods at once. Set renewal-duration to at most entry-lifetime',
    )
  return ansConfigOf(config)
}

/** The super-validator that confirms, and where. */
export type Confirmer = {
  readonly genesis: Genesis
  readonly keyPair: KeyPair
  /** The file of the key, for messages. */
  readonly keyFile?: string
  /** As of `readRules`. */
  readonly rulesUrl: string
  /** `trust`: null: the authorities built into Node.js. */
  readonly synchronizer: {
    readonly url: string
    readonly token: string | null
    readonly trust: ClientTls | null
  }
}

/** Confirms rules that replace those of the contract `current`, as `confirm` does. */
export function confirmRules(
  input: Parameters<typeof confirm>[0] & {
    readonly current: ContractId
    readonly config: AnsConfig
  },
): Promise<string> {
  const config = ledgerConfigOf(input.config)
  return confirm(input, (by) => confirmSetConfigCommand({ ...by, ansRules: input.current, config }))
}

/**
 * Confirms a command in the name of the super-validator whose operator key this is, and returns its name. A repeated
 * confirmation changes nothing. Another change of the same kind replaces the one that it confirmed before.
 *
 * @throws {CommandError} If no super-validator has the key, or the synchronizer refuses the confirmation.
 */
export async function confirm(
  input: Confirmer & { readonly nowMicros: number },
  commandOf: (by: { readonly dsoRules: ContractId; readonly confirmer: PartyId }) => Command,
): Promise<string> {
  const { genesis, keyPair, keyFile = 'this key' } = input
  const node = memberSetOf(genesis).memberOfKey(keyPair.publicKey)
  if (node === undefined)
    throw new CommandError(
      `nothing was confirmed: ${keyFile} is not the operator key of a super-validator of this genesis. Name the file ` +
        'NAME.operator that `keys new` made, and the genesis of its network',
    )
  const { dso_rules } = await askFor(`${input.rulesUrl}/dso`, dsoAnswer)
  const confirmer = svPartyOf(node)
  const dsoRules = dso_rules.contract.contract_id
  const { bytes } = signSubmission(
    { genesisHash: hashGenesis(genesis), keyPair, random: systemRandom },
    {
      userId: node.name,
      actAs: [confirmer],
      readAs: [],
      commandId: randomHex(systemRandom, 16),
      submissionId: '',
      workflowId: '',
      deduplication: { kind: 'duration', micros: 0 },
      commands: [commandOf({ dsoRules, confirmer })],
      disclosed: [],
    },
    input.nowMicros + NOT_AFTER_MICROS,
  )
  const { url } = input.synchronizer
  await using synchronizer = createLogClient(input.synchronizer)
  await synchronizer
    .submit(bytes, AbortSignal.timeout(REQUEST_TIMEOUT_MS))
    .catch((error: unknown) => {
      throw isScanError(error) ? new CommandError(reasonOf(error, url), { cause: error }) : error
    })
  return node.name
}

/** A contract in an answer of a node. Its payload is decoded by its template. */
const stateOfContract = z.object({
  contract: z.object({ contract_id: z.string(), payload: z.unknown() }),
})
const rulesAnswer = z.object({ ans_rules_update: stateOfContract })
const dsoAnswer = z.object({ dso_rules: stateOfContract })

/** What the schema reads of an answer with status 200. @throws {CommandError} If there is none, or it has another form. */
export async function askFor<Answer>(
  url: string,
  schema: z.ZodType<Answer>,
  body?: object,
): Promise<Answer> {
  const answer = await ask(url, { timeoutMs: REQUEST_TIMEOUT_MS, body })
  if (answer.status === 200) {
    const parsed = schema.safeParse(answer.body)
    if (parsed.success) return parsed.data
    throw new CommandError(
      `${url} does not answer as a scan node does: ${messageOf(parsed.error)}. Name the address of a scan node`,
    )
  }
  if (answer.status === NOT_FOUND)
    throw new CommandError(
      `the server at ${url} is not a scan node: it does not have this path. Name the address of a scan node`,
    )
  throw new CommandError(
    answer.status === null
      ? `${url} does not answer (${answer.reason}). Check that the node runs, and that its address is right`
      : `${url} refuses with status ${answer.status}: ${memberOf(answer.body, 'error') ?? 'it gives no reason'}`,
  )
}

function reasonOf(error: ScanError, url: string): string {
  // The path of a submission does not depend on what is submitted: only a synchronizer has it.
  if (messageOf(error.cause) === `status ${NOT_FOUND}`)
    return `nothing was confirmed: the server at ${url} is not a synchronizer. Name the address of one with \`--synchronizer\``
  if (error.code === 'DEPENDENCY_UNAVAILABLE') {
    const cause = describeFailure(error.cause)
    const reason = error.message.includes(cause) ? error.message : `${error.message}: ${cause}`
    return (
      `the synchronizer at ${url} did not acknowledge the confirmation: ${reason}. Check that it runs, and ` +
      'that its address is right. Then run the same command again: a repeated confirmation has no effect'
    )
  }
  if (error.message.endsWith('other network'))
    return (
      `nothing was confirmed: the synchronizer at ${url} orders for another network. Name the genesis of that ` +
      'network with `--genesis`, or the synchronizer of this one'
    )
  return `nothing was confirmed: the synchronizer at ${url} refuses it: ${error.message}`
}
