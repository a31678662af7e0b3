/**
 * How much a participant's entries may add to the state in a day of record time. Keys and parties cost nothing, and
 * there is no coin before the first reward, so bytes are counted by themselves. What goes again is taken off the entry
 * that lets it go, not off the day: an entry that adds nothing is always accepted.
 *
 * The bytes of a day are a record among those of change ids, and go when the day ends.
 */
import { assert, sha256Hex, utf8 } from '@quorumscan/base'
import { type Contract, type Micros, participantOfKey, partyParticipant } from '@quorumscan/model'
import { canonicalJson, type Genesis, STATE_BYTES_PER_DAY } from '@quorumscan/verifier'
import { payloadText } from './contract-id.ts'
import type { DecodedEntry } from './entry.ts'
import type { LogEntry } from './ports.ts'
import { refuse } from './refusal.ts'
import type { Rules } from './rules.ts'
import type { KeptChange, StateDelta, StateView } from './state.ts'
import { addsToState } from './submission-facts.ts'
import type { DsoRulesPayload } from './templates/dso-rules.ts'

const DAY_MICROS = 86_400_000_000
/** Of an entry with an effect: the hash of its activity, which stays for ever. */
const ENTRY_BYTES = 64
/** Of a contract beside its payload: its id, stakeholders, and places in lists. */
const CONTRACT_BYTES = 256
/** Of a party, which stays for ever. */
const PARTY_BYTES = 256

type Effects = Pick<StateDelta, 'created' | 'archived' | 'allocated'>

/** The bytes by which the state of every replica grows; negative if it shrinks. An estimate that all compute alike. */
export function growthOf({ created, archived, allocated }: Effects): number {
  const bytesOf = (contracts: readonly Contract[]): number =>
    contracts.reduce((sum, { payload }) => sum + CONTRACT_BYTES + payloadText(payload).length, 0)
  return ENTRY_BYTES + PARTY_BYTES * allocated.length + bytesOf(created) - bytesOf(archived)
}

/** The id of the record that counts the bytes of a participant on the day of a record time. */
export function growthIdOf(participant: string, recordTime: Micros): string {
  return sha256Hex(utf8(canonicalJson({ day: dayOf(recordTime), participant })))
}

/**
 * Adds the effects of an entry to the bytes of its participant's day; null if nothing is counted: super-validators
 * work for all, and what works while the log is full (`addsToState`) always does.
 *
 * @throws {Refusal} LIMIT_EXCEEDED if the day has no bytes left.
 */
export function countGrowth(
  input: {
    readonly entry: Pick<LogEntry, 'offset' | 'recordTime'>
    readonly decoded: Extract<DecodedEntry, { kind: 'submission' }>
    readonly genesis: Genesis
    readonly rules: Rules
    readonly view: StateView
    readonly dsoRules: DsoRulesPayload
  },
  effects: Effects,
): KeptChange | null {
  const { entry, genesis, rules, view, dsoRules } = input
  const { submission } = input.decoded
  const bytes = growthOf(effects)
  if (!rules.isGrowthBounded || bytes <= 0 || !addsToState(submission, rules)) return null
  const participant = participantOfKey(submission.participant)
  if (dsoRules.svs.some(({ party }) => partyParticipant(party) === participant)) return null
  const id = growthIdOf(submission.participant, entry.recordTime)
  const counted = view.change(id)
  assert(counted !== undefined, 'the bytes of the day are loaded')
  const total = bytes + (counted === null ? 0 : Number(counted.submissionId))
  const most = genesis.stateBytesPerDay ?? STATE_BYTES_PER_DAY
  if (total > most)
    refuse(
      'LIMIT_EXCEEDED',
      `a participant adds at most ${most} bytes to the state in a day of record time`,
    )
  const { offset, recordTime } = entry
  const until = (dayOf(recordTime) + 1) * DAY_MICROS - 1
  return { id, record: { offset, recordTime, submissionId: String(total), until } }
}

function dayOf(recordTime: Micros): number {
  return Math.floor(recordTime / DAY_MICROS)
}
