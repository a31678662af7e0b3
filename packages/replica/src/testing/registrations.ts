/**
 * The contracts and rows that registrations create, for any number of names: copies of one that a ledger made, with
 * name, owner, ids and place replaced.
 */
import { assert, sha256Hex } from '@quorumscan/base'
import {
  type ActivityRow,
  acceptRequestCommand,
  activityRowsOf,
  ansEntry,
  ansRules,
  contractIdOf,
  formatEventId,
  isOf,
  requestEntryCommand,
  updateIdOf,
} from '@quorumscan/ledger'
import { Scenario } from '@quorumscan/ledger/testing'
import type { Contract, ContractId, Micros, Offset, PartyId } from '@quorumscan/model'
import { formatInstant } from '@quorumscan/verifier'
import type { EntryFields } from './entry-steps.ts'

export type Registration = {
  /** Entry, context, subscription and idle state. */
  readonly contracts: readonly Contract[]
  /** Tap, lock and payment. */
  readonly rows: readonly ActivityRow[]
}

/** The position in the log. */
type At = {
  readonly offset: Offset
  readonly recordTime: Micros
  /** Registrations at this offset before it. */
  readonly index: number
}

const NAME = 'the-one-that-was-registered.unverified.ns'
const CONTRACT_ID = /\b00[0-9a-f]{64}\b/g

/** Registrations of the test network. */
export function createRegistrations(
  genesisHash: string,
): (fields: EntryFields, at: At) => Registration {
  const scenario = new Scenario()
  assert(scenario.network.genesisHash === genesisHash, 'it is the test network')
  const owner = scenario.actor('the-owner')
  scenario.tap(owner, '200')
  const texts = { url: `https://example.org/${NAME}`, description: `The entry of ${NAME}` }
  const asked = { ansRules: scenario.the(ansRules), user: owner.party, name: NAME, ...texts }
  const { requestCid } = scenario.do(owner, requestEntryCommand(asked))
  const inputs = scenario.coins(owner)
  const { paymentCid } = scenario.do(
    owner,
    acceptRequestCommand({ request: requestCid as ContractId, inputs }),
  )
  scenario.resolve(paymentCid as ContractId)
  const { ledger } = scenario
  const left = ledger.contracts().filter(({ offset }) => offset > 0)
  // A contract that refers to others follows them.
  left.sort((a, b) => a.offset - b.offset || a.nodeId - b.nodeId)
  const rows = ledger.results().flatMap((result, index) => {
    const { recordTime } = ledger.entries()[index] as { recordTime: Micros }
    const { synchronizerId } = scenario.network.genesis
    return activityRowsOf({ offset: index + 1, recordTime, synchronizerId, result })
  })

  return ({ name, user, expiresAt }, { offset, recordTime, index }) => {
    const idByOld = new Map<ContractId, ContractId>()
    // Archived contracts have ids as well.
    const idOf = (old: ContractId) => idByOld.get(old) ?? `00${sha256Hex(`${name} ${old}`)}`
    const replaced = <T>(value: T): T =>
      JSON.parse(
        JSON.stringify(value)
          .replaceAll(NAME, name)
          .replaceAll(owner.party, user)
          .replaceAll(CONTRACT_ID, idOf),
      )
    const updateId = updateIdOf({ genesisHash, offset, recordTime })
    const contracts = left.map((old, number) => {
      const { templateId, packageName } = old
      const { payload, signatories, observers } = replaced(old)
      const identified = {
        templateId,
        updateId,
        nodeId: index * left.length + number,
        payload: isOf(ansEntry, old)
          ? { ...payload, expiresAt: formatInstant(expiresAt) }
          : payload,
      }
      const contractId = contractIdOf(identified)
      idByOld.set(old.contractId, contractId)
      const sorted = (parties: readonly PartyId[]) => [...parties].sort()
      return {
        ...identified,
        contractId,
        packageName,
        offset,
        createdAt: recordTime,
        signatories: sorted(signatories),
        observers: sorted(observers),
      }
    })
    return {
      contracts,
      rows: rows.map((row, number) => {
        const { activity, parties, step } = replaced(row)
        const place = {
          event_id: formatEventId(offset, index * rows.length + number),
          date: formatInstant(recordTime),
          offset: String(offset),
        }
        return { activity: { ...activity, ...place }, parties, step }
      }),
    }
  }
}
