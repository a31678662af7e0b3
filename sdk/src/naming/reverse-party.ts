/** The names of a party, of all naming systems. Loaded with the first call of `reverse`. */
import type { Basis } from '../names/lookup-types.ts'
import { parseParty } from '../platform/parse-party.ts'
import { isFqpn } from './fqpn.ts'
import {
  asError,
  type PartyResolver,
  type ResolverAnswer,
  type ResolverRead,
} from './party-resolver.ts'
import type { Candidate } from './results.ts'

/** @throws As `Resolver.reverse`. */
export async function reverseParty(
  typed: string,
  read: ResolverRead,
  parts: {
    readonly resolvers: readonly PartyResolver[]
    isCounted(candidate: Candidate): boolean
    isEnded(candidate: Candidate): boolean
    candidateOf(resolver: string, basis: Basis, answer: ResolverAnswer): Promise<Candidate>
  },
): Promise<readonly Candidate[]> {
  const { resolvers, isCounted, isEnded, candidateOf } = parts
  const party = parseParty(typed)
  const settled = await Promise.allSettled(resolvers.map((one) => one.reverse(party, read)))
  read.signal?.throwIfAborted()
  const candidates = await Promise.all(
    settled.flatMap((one, index) => {
      const { id } = resolvers[index] as PartyResolver
      if (one.status === 'rejected') return []
      const own = one.value.filter(
        (answer) =>
          answer.party === party &&
          isFqpn({ network: read.network, resolver: id, name: answer.name }),
      )
      return own.map(({ basis, ...answer }) => candidateOf(id, basis, answer))
    }),
  )
  const found = candidates.filter((one) => isCounted(one) && one.changed === null && !isEnded(one))
  const failed = settled.find((one) => one.status === 'rejected')
  if (found.length === 0 && failed !== undefined) throw asError(failed.reason)
  const names = found.map(({ fqpn }) => fqpn)
  return found.filter(({ fqpn }, index) => names.indexOf(fqpn) === index)
}
