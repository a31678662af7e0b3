/**
 * What super-validators change together (D-23): the rules of the name service, and the version of the protocol. Each
 * confirms with its own key; what enough of them have confirmed alike is in force.
 */
import { type KeyPair, randomHex, systemRandom } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import {
  type AnsRulesConfig,
  ansRules,
  confirmSetConfigCommand,
  svPartyOf,
} from '@quorumscan/ledger'
import { createLogClient } from '@quorumscan/log'
import type { Command, ContractId, PartyId } from '@quorumscan/model'
import { formatDuration } from '@quorumscan/model'
import { ask, CommandError, messageOf } from '@quorumscan/runtime'
import { signSubmission } from '@quorumscan/submit'
import type { Genesis } from '@quorumscan/verifier'
import { hashGenesis } from './genesis.ts'

/** Lookups go on while nodes restart; after this an answer would surprise. */
const REQUEST_TIMEOUT_MS = 10_000
const NOT_AFTER_MICROS = 30_000_000
const NOT_FOUND = 404

export type RulesInForce = {
  readonly contractId: ContractId
  readonly config: AnsRulesConfig
}

/**
 * The rules that hold now.
 *
 * @param url - Of a scan node, or of the proxy to several: what comes before `/ans-rules`.
 * @throws {CommandError} If it cannot be asked.
 */
export async function readRules(url: string): Promise<RulesInForce> {
  const { ans_rules_update: update } = Object(await askFor(`${url}/ans-rules`, {}))
  const { contract_id: contractId, payload } = (update as Shown).contract
  return { contractId, config: ansRules.type.decode(payload, []).config }
}

/** @throws {CommandError} If the ledger does not allow the changed rules, or they would have names paid for several times at once. */
export function changeRules(
  { dso }: Pick<Genesis, 'dso'>,
  before: AnsRulesConfig,
  change: Partial<AnsRulesConfig>,
): AnsRulesConfig {
  const config = { ...before, ...change }
  if (ansRules.ensure?.({ dso, config }) === false)
    throw new CommandError(
      'nothing was changed: the ledger takes a fee above 0, durations above 0 and within a century, and a description ' +
        'prefix of at most 140 characters. Set the rules to values within these limits',
    )
  // The ledger allows it: to refuse it there would be another version of the protocol.
  if (config.renewalDuration > config.entryLifetime)
    throw new CommandError(
      `nothing was changed: the renewal window (renewal-duration, ${formatDuration(config.renewalDuration)}) would be ` +
        `longer than the lifetime of a name (entry-lifetime, ${formatDuration(config.entryLifetime)}), and a name that ` +
        'renews itself would pay for several periods at once. Set renewal-duration to at most entry-lifetime',
    )
  return config
}

export function areRulesEqual(one: AnsRulesConfig, other: AnsRulesConfig): boolean {
  return textOf(one) === textOf(other)
}

/** Who confirms, and where. */
export type Confirmer = {
  readonly genesis: Genesis
  readonly keyPair: KeyPair
  /** As of `readRules`. */
  readonly rulesUrl: string
  readonly synchronizer: { readonly url: string; readonly token: string | null }
}

/** Confirms rules in the place of `current`, as `confirm` does. */
export function confirmRules(
  input: Confirmer & {
    readonly current: ContractId
    readonly config: AnsRulesConfig
    readonly nowMicros: number
  },
): Promise<string> {
  const { current, config } = input
  return confirm(input, (by) => confirmSetConfigCommand({ ...by, ansRules: current, config }))
}

/**
 * Confirms what the command says in the name of the super-validator whose operator key this is, and returns its name. A
 * repeat changes nothing; another change of the same kind takes the place of the one that it confirmed before.
 *
 * @throws {CommandError} If the key is nobody's, or the synchronizer does not take it.
 */
export async function confirm(
  input: Confirmer & { readonly nowMicros: number },
  commandOf: (by: { readonly dsoRules: ContractId; readonly confirmer: PartyId }) => Command,
): Promise<string> {
  const { genesis, keyPair } = input
  const node = genesis.nodes.find(({ operatorKey }) => operatorKey === keyPair.publicKey)
  if (node === undefined)
    throw new CommandError(
      'nothing was confirmed: the key is the operator key of no super-validator in this genesis. Name the file NAME.operator that `keys new` ' +
        'made, and the genesis of its network',
    )
  const { dso_rules } = Object(await askFor(`${input.rulesUrl}/dso`))
  const confirmer = svPartyOf(node)
  const dsoRules = (dso_rules as Shown).contract.contract_id
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
  await using synchronizer = createLogClient(input.synchronizer)
  await synchronizer
    .submit(bytes, AbortSignal.timeout(REQUEST_TIMEOUT_MS))
    .catch((error: unknown) => refuse(error, input.synchronizer.url))
  return node.name
}

/** A contract as a node shows it. */
type Shown = { readonly contract: { readonly contract_id: ContractId; readonly payload: unknown } }

function textOf(config: AnsRulesConfig): string {
  return JSON.stringify([
    config.entryFee.toString(),
    config.entryLifetime,
    config.renewalDuration,
    config.descriptionPrefix,
  ])
}

/** The JSON of a 200. */
export async function askFor(url: string, body?: object): Promise<unknown> {
  const answer = await ask(url, { timeoutMs: REQUEST_TIMEOUT_MS, body })
  if (answer.status === 200) return answer.body
  if (answer.status === NOT_FOUND)
    throw new CommandError(
      `what answers at ${url} is not a scan node: it does not have this path. Name the address of a scan node`,
    )
  throw new CommandError(
    answer.status === null
      ? `${url} does not answer (${answer.reason}). Look whether that node runs, and whether its address is right`
      : `${url} refuses with status ${answer.status}: ${Object(answer.body).error ?? 'it gives no reason'}`,
  )
}

/** The path of a submission does not depend on what is submitted: where it is unknown, no synchronizer answers. */
function refuse(error: unknown, url: string): never {
  if (!isScanError(error)) throw error
  const why =
    messageOf(error.cause) === `status ${NOT_FOUND}`
      ? `nothing was confirmed: what answers at ${url} is not a synchronizer. Name the address of one with \`--synchronizer\``
      : error.code === 'DEPENDENCY_UNAVAILABLE'
        ? `the synchronizer at ${url} did not confirm that it has this: ${error.message}. Look whether it runs, and ` +
          'whether its address is right; then type the same again, which confirms it once'
        : error.message.endsWith('other network')
          ? `nothing was confirmed: the synchronizer at ${url} orders for another network. Name the genesis of that ` +
            'network with `--genesis`, or the synchronizer of this one'
          : `nothing was confirmed: the synchronizer at ${url} refuses it: ${error.message}`
  throw new CommandError(why, { cause: error })
}
