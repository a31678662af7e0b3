/**
 * Grows a data set of live names: signed log entries, from the allocation of each owner to the confirmations that
 * create the entry. A replica applies them, and the next entries use the contracts that it has created.
 */

import { assert, type Clock, createSystemClock, type KeyPair } from '@quorumscan/base'
import { dueJobsOf } from '@quorumscan/jobs'
import {
  type AppliedEntry,
  acceptRequestCommand,
  allocatePartyCommand,
  ansRules,
  coin,
  coinRules,
  confirmResolveCommand,
  disclose,
  dsoRules,
  encodeEntry,
  isOf,
  type LogEntry,
  requestEntryCommand,
  subscriptionInitialPayment,
  subscriptionRequest,
  svPartyOf,
  type Template,
  tapCommand,
} from '@quorumscan/ledger'
import {
  AMOUNT_SCALE,
  type Command,
  type Contract,
  type ContractId,
  type DisclosedContract,
  type PartyId,
  partyIdOf,
} from '@quorumscan/model'
import { openReplica, type Replica } from '@quorumscan/replica'
import { DAY_MICROS, type TestNetwork, testKeyPair } from '@quorumscan/testkit'
import { createMemoryLog, type MemoryLog } from './memory-ordering.ts'

/** Jobs of a scan node. */
export const OPERATOR_JOBS = dueJobsOf('scan')

/** The exact fee of a name, one USD at the price of 0.005, so that no change remains. */
const FEE = 200n * AMOUNT_SCALE
/** Concurrent owners. Each step of all of them is one batch of the ingest. */
const OWNERS_AT_ONCE = 32
const STEP_MICROS = 1_000
const NOT_AFTER_MICROS = 60_000_000

export type GrowOptions = {
  readonly network: TestNetwork
  readonly socketPath: string
  readonly nameCount: number
}

/** The `index`-th name of the data set, also in byte order. */
export function nameOf(index: number): string {
  return `name-${String(index).padStart(7, '0')}.unverified.ns`
}

/** A clock on which no entry of the data set is in the future (Rule 6). */
export function lateClock(network: TestNetwork): Clock {
  const nowMicros = () => network.genesis.recordTime + 365 * DAY_MICROS
  return { ...createSystemClock(), nowMicros }
}

/** Resolves to the log when the replica in Redis has all names. */
export async function growNames(options: GrowOptions): Promise<readonly LogEntry[]> {
  const { network, socketPath, nameCount } = options
  const { genesis, genesisHash } = network
  await using replica = await openReplica({
    redis: { path: socketPath },
    genesis,
    genesisHash,
    dueJobs: OPERATOR_JOBS,
    clock: lateClock(network),
  })
  const log = createMemoryLog(genesis.recordTime)
  const stopping = new AbortController()
  const running = replica.run(log, stopping.signal)
  const step = createStepper(replica, log, genesisHash)
  const rules = {
    ansRules: await singleton(replica, ansRules),
    coinRules: await singleton(replica, coinRules),
    dsoRules: await singleton(replica, dsoRules),
  }
  for (let first = 0; first < nameCount; first += OWNERS_AT_ONCE) {
    const count = Math.min(OWNERS_AT_ONCE, nameCount - first)
    const names = Array.from({ length: count }, (_, index) => nameOf(first + index))
    await registerAll(names, { ...options, rules, step, firstIndex: first })
  }
  stopping.abort()
  await running
  return log.entries
}

/** A submission before it is signed. */
type Draft = {
  readonly keyPair: KeyPair
  readonly actAs: readonly PartyId[]
  readonly commands: readonly Command[]
  readonly disclosed?: readonly DisclosedContract[]
}
type Step = (drafts: readonly Draft[]) => Promise<readonly AppliedEntry[]>
type Rules = Record<'ansRules' | 'coinRules' | 'dsoRules', Contract>

/** Makes each step for all owners before the next step, because requests need coin and payments need requests. */
async function registerAll(
  names: readonly string[],
  options: GrowOptions & {
    readonly rules: Rules
    readonly step: Step
    readonly firstIndex: number
  },
): Promise<void> {
  const { network, rules, step, firstIndex } = options
  const keyPair = testKeyPair('bench')
  const owners = names.map((name, index) => {
    const hint = `owner-${firstIndex + index}`
    const party = partyIdOf(hint, keyPair.publicKey)
    assert(party !== undefined, `${hint} is a hint`)
    return { hint, party, name }
  })
  type Owner = (typeof owners)[number]

  /** Orders one entry per owner, and returns the contract of the template that each has created. */
  const stepOf = async (
    template: Template<unknown>,
    commandOf: (owner: Owner, index: number) => Command,
    used: readonly Contract[] = [],
  ): Promise<readonly ContractId[]> => {
    const drafts = owners.map((owner, index) => ({
      keyPair,
      actAs: [owner.party],
      commands: [commandOf(owner, index)],
      disclosed: used.map(disclose),
    }))
    return (await step(drafts)).map(({ created }) => {
      const contract = created.find((one) => isOf(template, one))
      assert(contract !== undefined, `a step creates a ${template.entity}`)
      return contract.contractId
    })
  }

  await step(
    owners.map(({ hint }) => ({ keyPair, actAs: [], commands: [allocatePartyCommand({ hint })] })),
  )
  const { contractId: tapRules } = rules.coinRules
  const coins = await stepOf(
    coin,
    ({ party }) => tapCommand({ coinRules: tapRules, receiver: party, amount: FEE }),
    [rules.coinRules],
  )
  const requests = await stepOf(
    subscriptionRequest,
    ({ party, name }) =>
      requestEntryCommand({
        ansRules: rules.ansRules.contractId,
        user: party,
        name,
        url: `https://example.org/${name}`,
        description: `The entry of ${name}`,
      }),
    [rules.ansRules],
  )
  const payments = await stepOf(subscriptionInitialPayment, (_owner, index) =>
    acceptRequestCommand({
      request: requests[index] as ContractId,
      inputs: [coins[index] as ContractId],
    }),
  )
  // The q-th confirmation decides; later ones are refused.
  for (const [index, node] of network.genesis.nodes.entries()) {
    const confirmer = svPartyOf(node)
    const { contractId: dsoRulesCid } = rules.dsoRules
    await step(
      payments.map((payment) => ({
        keyPair: network.operators[index] as KeyPair,
        actAs: [confirmer],
        commands: [confirmResolveCommand({ dsoRules: dsoRulesCid, confirmer, payment })],
      })),
    )
  }
}

/** Signs and appends entries, and resolves to their results once the replica has applied the last one. */
function createStepper(replica: Replica, log: MemoryLog, genesisHash: string): Step {
  let count = 0
  const sign = ({ keyPair, ...draft }: Draft) => {
    const id = String(++count).padStart(32, '0')
    const submission = {
      genesis: genesisHash,
      participant: keyPair.publicKey,
      id,
      notAfter: replica.head().recordTime + NOT_AFTER_MICROS,
      userId: 'bench',
      readAs: [],
      commandId: id,
      submissionId: '',
      workflowId: '',
      deduplication: { kind: 'duration', micros: 0 } as const,
      disclosed: [],
      ...draft,
    }
    return encodeEntry(submission, keyPair)
  }
  return async (drafts) => {
    const applied: AppliedEntry[] = []
    await new Promise<void>((resolve) => {
      const stop = replica.onApplied((entry) => {
        applied.push(entry)
        if (applied.length < drafts.length) return
        stop()
        resolve()
      })
      log.append(drafts.map(sign), STEP_MICROS)
    })
    return applied
  }
}

async function singleton(replica: Replica, template: Template<unknown>): Promise<Contract> {
  const [contract] = await replica.contractsByKey(`singleton:${template.entity}`)
  assert(contract !== undefined, `the ledger has a ${template.entity}`)
  return contract
}
