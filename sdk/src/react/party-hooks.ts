/** Parties in React: a field that takes a name, a qualified name or a party, and the text to show for a party. */
import type { QuorumscanError } from '../errors.ts'
import type { Basis, NameChange, Names } from '../names/lookup-types.ts'
import { displayParty, NAME_SERVICE } from '../naming/display.ts'
import { asError } from '../naming/party-resolver.ts'
import type { Resolver } from '../naming/resolver.ts'
import type { Resolution, Unresolved } from '../naming/results.ts'
import { hasEnded, systemClock } from '../platform/clock.ts'
import { type QueryOptions, type ReadOptions, useRead, useSettled, useSource } from './reads.ts'

/** How often a shown party is resolved again: an owner may change between typing and sending. */
const POLL_MS = 2000

/** Options of `useParty`. */
export type UsePartyOptions<Data = Resolution> = {
  /** Of `createResolver`. Create it once, outside of components: another one starts from scratch. */
  readonly resolver: Resolver
  /** Time between reads while the field is shown, in ms. Default 2000. */
  readonly pollMs?: number
  /** For how long the last answer is shown while reads fail, in ms. Default 60 000. */
  readonly maxAgeMs?: number
  readonly query?: QueryOptions<Resolution, Data>
}

/**
 * The party of what was typed. Send only if `state` is `party`.
 *
 * `idle`: nothing is typed, or `enabled` is false. `typing`: it is resolved when typing pauses. `resolving`: no recent
 * answer yet. `party`: the answer is checked as `minBasis` of the resolver demands. `changed`: the owner is another one than
 * before: show `changed`, and call `acceptChange` once the user agrees. `failed`: a naming system gave no answer; `error` has the
 * reason, and `retry` asks again at once. `disputed`: conflicting answers; do not send. The others are as in `Unresolved`.
 */
export type UsePartyResult<Data = Resolution> = {
  readonly state: 'idle' | 'typing' | 'resolving' | 'party' | Unresolved['kind']
  /** The party to send to. Set only if `state` is `party`. */
  readonly party: string | null
  /** Who checked the party, and how. Set only if `state` is `party`. */
  readonly basis: Basis | null
  /** Set only if `state` is `changed`. */
  readonly changed: NameChange | null
  /** The whole outcome; null before the first one, and after a failure. */
  readonly resolution: Resolution | null
  /** What `select` makes of the outcome; undefined without one. */
  readonly data: Data | undefined
  /** Not null if `state` is `failed` or `invalid`. */
  readonly error: QuorumscanError | null
  /** Accepts the shown change of owner for good, and resolves again. Another change that came meanwhile is not accepted. */
  acceptChange(): Promise<void>
  /** Resolves again at once. */
  retry(): void
}

/**
 * Resolves what a user types into the field of a recipient: a name, a qualified name or a party.
 *
 * @param typed - The typed text; may be empty.
 * @example
 * const { state, party, error, retry } = useParty(typed, { resolver })
 */
export function useParty<Data = Resolution>(
  typed: string,
  options: UsePartyOptions<Data>,
): UsePartyResult<Data> {
  const { resolver, query, ...bounds } = options
  const text = typed.trim()
  const asked = useSettled(text)
  const resolve = async (signal: AbortSignal): Promise<Resolution> => {
    const resolution = await resolver.resolve(asked, { signal })
    if (resolution.kind !== 'failed') return resolution
    const errors = resolution.failures.map(({ error }) => error)
    throw errors.find(({ code }) => code === 'CONSENSUS_DISPUTED') ?? asError(resolution.error)
  }
  const more = { pollMs: POLL_MS, ...bounds, isOn: asked !== '', query }
  const read = useRead(resolver, ['party', asked], resolve, more)
  const isAsked = asked === text
  const resolution = (isAsked && read.answer) || null
  const without = read.error?.code === 'CONSENSUS_DISPUTED' ? 'disputed' : 'failed'
  const stateOf = (): UsePartyResult['state'] => {
    if (text === '' || query?.enabled === false) return 'idle'
    if (!isAsked) return 'typing'
    if (resolution === null) return read.state === 'unverified' ? without : 'resolving'
    if (resolution.kind !== 'found') return resolution.kind
    const { validUntil, clockSkewMs } = resolution
    return hasEnded(validUntil, systemClock, clockSkewMs) ? 'expired' : 'party'
  }
  const state = stateOf()
  const found = state === 'party' && resolution?.kind === 'found' ? resolution : null
  const candidates = resolution?.kind === 'changed' ? resolution.candidates : []
  const changed = candidates.find((each) => each.changed !== null)?.changed ?? null
  const refused = resolution !== null && 'error' in resolution ? resolution.error : null
  return {
    state,
    party: found?.party ?? null,
    basis: found?.basis ?? null,
    changed,
    resolution,
    data: isAsked ? read.data : undefined,
    error: refused ?? (isAsked ? read.error : null),
    async acceptChange() {
      if (changed === null) return
      const { party } = changed
      await resolver.resolve(asked, { acceptChange: (now) => now.party === party })
      read.refetch()
    },
    retry: read.refetch,
  }
}

/** The text for a party, and where it comes from. */
export type UsePartyNameResult = ReturnType<typeof displayParty> & {
  /** No answer yet. The text is that of a party without a name. */
  readonly isPending: boolean
  /** Not null: it is not known whether the party has a name. */
  readonly error: QuorumscanError | null
}

/**
 * The text to show for a party: a name that leads back to it, else the hint, else the shortened identifier. Without a
 * `resolver` it reads from the names of the `NamesProvider`.
 *
 * @param party - May be empty.
 * @returns `icon`: the naming system of the name; `source`: which of the three it is.
 */
export function usePartyName(
  party: string,
  options: ReadOptions & {
    readonly resolver?: Resolver
    readonly query?: Pick<QueryOptions, 'enabled' | 'staleTime'>
  } = {},
): UsePartyNameResult {
  const { names, resolver, query, ...bounds } = options
  const source = useSource<Resolver | Names>(resolver ?? names)
  const reverse = async (signal: AbortSignal) => {
    if (!('watch' in source)) return source.reverse(party, { signal })
    const entry = await source.reverse(party, { ...bounds, signal })
    if (entry === null || entry.changed !== null) return []
    const { name, expiresAt: validUntil, clockSkewMs } = entry
    return [{ party, displayName: name, resolver: NAME_SERVICE, validUntil, clockSkewMs }]
  }
  const more = { ...bounds, isOn: party !== '', query }
  const read = useRead(source, ['party-name', party, bounds], reverse, more)
  const live = (read.answer ?? []).filter(
    ({ validUntil, clockSkewMs }) => !hasEnded(validUntil, systemClock, clockSkewMs),
  )
  return {
    ...displayParty(live, party),
    isPending: read.state === 'checking',
    error: read.answer === undefined ? read.error : null,
  }
}
