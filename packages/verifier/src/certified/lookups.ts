/** Lookups of one entry, by name or by party, alone and in batches, as ranges of the state tree. */

import type { Network } from '../certificates/certificate.ts'
import { fromHex, toHex } from '../encoding/bytes.ts'
import { memberSetOf } from '../genesis/member-set.ts'
import { InvalidProof } from '../proof/invalid-proof.ts'
import type { Sha256 } from '../proof/tree-hash.ts'
import type { Lookup } from '../statements/canonical-request.ts'
import { type CertifiedEntry, canBeInKey, entryOf, type RangeQuery, rangeUnder } from './query.ts'

/** The network, with the hash function. Ranges depend on it in addition to the request. */
export type HashedNetwork = Network & { readonly sha256: Sha256 }

/** The visible entry of a name, or null. */
export function nameQuery(name: string): RangeQuery<CertifiedEntry | null> {
  return firstUnder(['n', name])
}

/** The entry that represents a party: its synthetic one, else its lowest visible name; or null. */
export function partyQuery(
  party: string,
  network: HashedNetwork,
): RangeQuery<CertifiedEntry | null> {
  const synthetic = syntheticNameOf(party, network)
  if (synthetic === null) return firstUnder(['p', party])
  const byName = nameQuery(synthetic)
  return { ...byName, answer: (runs, offset) => ofUser(party, byName.answer(runs, offset)) }
}

/** The entry of a name, or the one that represents a party, or null. */
export function lookupQuery(
  lookup: Lookup,
  network: HashedNetwork,
): RangeQuery<CertifiedEntry | null> {
  return 'name' in lookup ? nameQuery(lookup.name) : partyQuery(lookup.party, network)
}

/** Lookups in order, at one offset. */
export function batchQuery(
  lookups: readonly Lookup[],
  network: HashedNetwork,
): RangeQuery<readonly (CertifiedEntry | null)[]> {
  const stateQueries = lookups.map((lookup) => lookupQuery(lookup, network))
  return {
    ranges: stateQueries.flatMap(({ ranges }) => ranges),
    offset: null,
    answer(runs, offset) {
      let next = 0
      return stateQueries.map(({ ranges, answer }) => {
        const own = runs.slice(next, next + ranges.length)
        next += ranges.length
        return answer(own, offset)
      })
    },
  }
}

/** The name that the operator, or a super-validator, has from the genesis on (D-2); null: another party. */
export function syntheticNameOf(
  party: string,
  { genesis, sha256 }: Pick<HashedNetwork, 'genesis' | 'sha256'>,
): string | null {
  if (party === genesis.dso) return 'dso.ns'
  const node = memberSetOf(genesis).members.find(
    ({ name, operatorKey }) =>
      party.startsWith(`${name}::1220`) &&
      party === `${name}::1220${toHex(sha256(fromHex(operatorKey)))}`,
  )
  return node === undefined ? null : `${node.name}.sv.ns`
}

/** @throws {InvalidProof} If the entry is that of another party. */
export function ofUser(party: string, entry: CertifiedEntry | null): CertifiedEntry | null {
  if (entry === null || entry.user === party) return entry
  throw new InvalidProof('NOT_PROVEN', 'the entry is that of another party')
}

function firstUnder(components: readonly string[]): RangeQuery<CertifiedEntry | null> {
  return {
    ranges: components.every(canBeInKey) ? [rangeUnder(components, 1)] : [],
    offset: null,
    answer: ([run = []]) => (run[0] === undefined ? null : entryOf(run[0])),
  }
}
