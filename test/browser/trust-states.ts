/** Names with fixed answers: one for each state of the hooks. */

import {
  type ErrorCode,
  type KnownError,
  type LookupOutcome,
  type Names,
  parseParty,
  QuorumscanError,
  type Shown,
} from '@quorumscan/sdk'
import { formatInstant } from '@quorumscan/verifier'
// @boundaries-ignore What no entry point exports is tried in a real browser, too.
import { watchName } from '../../sdk/src/names/watch-name.ts'
// @boundaries-ignore What no entry point exports is tried in a real browser, too.
import { systemClock } from '../../sdk/src/platform/clock.ts'

export type FixedAnswer = {
  readonly names: Names
  readonly name?: string
  readonly expectParty?: string
  readonly maxAgeMs?: number
}

/** `absent`, a kind, or the code of a failure. */
export function stateOf(shown: Shown<unknown>): string {
  if (shown.kind === 'failed') return shown.error.code
  return shown.kind === 'proven' && shown.value === null ? 'absent' : shown.kind
}

const ALICE = parseParty(`alice::1220${'a'.repeat(64)}`)
/** Expiry of an entry that expires during the test. */
const [SOON, SOON_MS] = ['soon', 400]
const never = () => new Promise<never>(() => {})
const facts = {
  offset: 1,
  recordTime: '2026-11-22T10:00:00.000000Z',
  threshold: 2,
  nodeCount: 4,
  agreed: ['sv-1', 'sv-2'],
  dissented: [],
  clockSkewMs: null,
  trust: null,
  basis: 'proof',
  receipt: null,
} as const
const entry = {
  name: 'a.unverified.ns',
  party: ALICE,
  url: '',
  description: '',
  expiresAt: null,
  contractId: null,
}
const change = {
  name: entry.name,
  previousParty: parseParty(`mallory::1220${'b'.repeat(64)}`),
  previousSeenAt: '2026-11-21T10:00:00.000000Z',
  party: ALICE,
  seenAt: facts.recordTime,
}

/** Each lookup gets the next answer. After the last one it is repeated. */
function answering(...answers: readonly (LookupOutcome | 'never' | 'fails')[]): Names {
  let count = 0
  const next = async () => {
    const answer = answers[Math.min(count++, answers.length - 1)]
    if (answer === 'never') return never()
    if (answer === 'fails') throw new Error('no answer')
    if (typeof answer !== 'object' || answer.kind === 'failed') return answer
    const isEnding = answer.value?.expiresAt === SOON
    const ending = isEnding ? { value: { ...answer.value, expiresAt: instant(SOON_MS) } } : {}
    return { ...answer, recordTime: instant(0), ...ending }
  }
  return namesOf(next)
}

function namesOf(next: () => Promise<unknown>): Names {
  const lookup = next as () => Promise<LookupOutcome>
  const watch: Names['watch'] = (name, options) => {
    const channel = async () => 'fixed'
    return watchName(name, { ...options, clock: systemClock, channel, lookup })
  }
  const reverseMany = async () => [await next()]
  return { reverseMany, watch } as unknown as Names // The hooks use only these methods.
}

/** The time in `ms` from now. */
const instant = (ms: number) => formatInstant(systemClock.nowMicros() + ms * 1000)

const found = { ...facts, kind: 'proven', value: entry, validUntil: entry.expiresAt } as const
const none = { ...facts, kind: 'proven', value: null, validUntil: null } as const
const changed = { ...facts, kind: 'changed', value: entry, previous: change } as const
const failing = (code: ErrorCode): LookupOutcome => {
  const error = new QuorumscanError('The test made this read fail.', {
    code,
    definite: true,
    retryable: true,
  })
  return { kind: 'failed', error: error as KnownError, facts: null }
}
const away = failing('NOT_ENOUGH_NODES')

export const payees: Record<string, FixedAnswer> = {
  'nothing is typed': { names: answering('never'), name: '' },
  'what is typed can be no name': { names: answering('never'), name: 'аlice' },
  'enough nodes agree': { names: answering(found) },
  'there are too few nodes': { names: answering({ ...found, threshold: 1 }) },
  'the name has a new owner': { names: answering(changed) },
  'it has no entry': { names: answering(none) },
  'it has another party': {
    names: answering(failing('NAME_MISMATCH')),
    expectParty: 'bob::1220',
  },
  'the entry ends': {
    names: answering({ ...found, value: { ...entry, expiresAt: SOON } }, 'never'),
  },
  'nodes are unreachable': { names: answering(away) },
  'the lookup fails': { names: answering('fails') },
  // The hook repeats the lookup after half of maxAgeMs, which never ends, so that the answer becomes too old.
  'the answer cannot be renewed': { names: answering(found, 'never'), maxAgeMs: 300 },
  'the next answer fails': { names: answering(found, 'fails'), maxAgeMs: 300 },
}

/** Each lookup loads this page, and is insufficient if that fails. */
export const whileOnline: FixedAnswer = {
  names: namesOf(() =>
    fetch(location.href, { cache: 'no-store' }).then(
      () => ({ ...found, recordTime: instant(0) }),
      () => away,
    ),
  ),
  maxAgeMs: 500,
}

export const reverses: Record<string, FixedAnswer> = {
  'there is no party': { names: answering('never'), name: '' },
  'it has a name that leads back': {
    names: answering(found),
  },
  'the name has a new owner': {
    names: answering(changed),
  },
  'it has none': { names: answering(none) },
  'the lookup fails': { names: answering('fails') },
}
