/** Vectors of valid documents. */
import { type CanonicalRequest, canonicalJson } from '@quorumscan/verifier'
import { encodeDocument } from '@quorumscan/verifier/certified'
import { genesis } from './build.ts'
import { provenRuns, withoutActivities } from './certified-activities.ts'
import {
  ALICE,
  activitiesDocument,
  BATCH,
  BOB,
  byName,
  byParty,
  certificateOf,
  DSO,
  EVE,
  entryLeaves,
  LATER,
  LEAVES,
  leafOf,
  MEMBER,
  page,
  SCANS,
  type Signers,
  type State,
  state,
  stateOf,
  T,
} from './state.ts'

export type Proven = {
  readonly name: string
  readonly request: CanonicalRequest
  readonly signers: number
  readonly document: string
  readonly offset_min?: number
}

const RULES_OF_NAMES = {
  operation: 'getAnsRules',
  parameters: { cached_ans_rules_contract_id: null, cached_ans_rules_domain_id: null },
}

const REQUESTS: readonly (readonly [name: string, request: CanonicalRequest])[] = [
  ['a name', byName('alice.unverified.ns')],
  ['a name that is absent', byName('eve.unverified.ns')],
  ['a name that others begin with', byName('alice')],
  ['a name that has expired', byName('bobby.unverified.ns')],
  ['a name that has expired and was taken again', byName('bob.unverified.ns')],
  ['a name that expires right after', byName('carol.unverified.ns')],
  ['the empty name', byName('')],
  ['a name of 255 characters', byName('€'.repeat(255))],
  ['a name with U+0000', byName('alice.unverified.ns\0')],
  ['a name with half of a surrogate pair', byName('é\ud83d')],
  ['the name of the operator', byName('dso.ns')],
  ['a party', byParty(ALICE)],
  ['a party that has no name', byParty(EVE)],
  ['a party of which the lowest name has expired', byParty(BOB)],
  ['the operator', byParty(genesis.dso)],
  ['a member', byParty(MEMBER)],
  ['a party called like a member', byParty(`sv-2::1220${'0'.repeat(64)}`)],
  ['a party with U+0000', byParty(`${ALICE}\0`)],
  ['a batch', BATCH],
  ['an empty batch', { operation: 'lookupEntries', parameters: { lookups: [] } }],
  ['all entries', page(1000, null, '')],
  ['the first page', page(2, null, '')],
  ['the next page', page(2, 'alicf.unverified.ns', '')],
  ['the last page', page(3, 'sv-3.sv.ns', '')],
  ['a page that ends exactly with its list', page(2, null, 'ali')],
  ['a page of which the last leaf has expired', page(1, null, 'bob')],
  ['a prefix that no name has', page(10, null, 'q')],
  ['a prefix beyond ASCII', page(10, null, 'é')],
  ['a prefix with U+0000', page(10, null, 'a\0')],
  ['a prefix with half of a surrogate pair', page(10, null, 'é\ud83d')],
  ['all names of a party', page(10, null, BOB, true)],
  ['a page of a party', page(1, null, BOB, true)],
  ['the names of a party with U+0000', page(10, null, `${BOB}\0`, true)],
  ['all names of a member', page(10, null, MEMBER, true)],
  ['the first name of a member', page(1, null, MEMBER, true)],
  ['what comes after it', page(1, 'sv-2.sv.ns', MEMBER, true)],
  ['the names of a member after one before its own', page(2, 'aaa', MEMBER, true)],
  ['all names of the operator', page(10, null, genesis.dso, true)],
  ['the rules of the network', DSO],
  ['the rules of names', RULES_OF_NAMES],
  ['the nodes', SCANS],
]

/** Names that differ in the last bits of their first byte, so that a bound with another first byte ends within it. */
export const BITS = stateOf(
  ['a1', 'd1'].flatMap((name) => entryLeaves(name, ALICE, LATER).slice(0, 1)),
)
/** Names that differ from `ap`, the end of the keys of `ao…`, only in its last bits. */
const CARRY = stateOf(
  ['aa1', 'ap1', 'ap2', 'ar1', 'az1'].flatMap((name) =>
    entryLeaves(name, ALICE, LATER).slice(0, 1),
  ),
)
/** Keys that differ in the bit in which the bounds of the first one differ. It has expired, so its range continues. */
const ENDS = stateOf([
  ...entryLeaves('x', ALICE, T).slice(0, 1),
  ...entryLeaves('x\u0001', ALICE, LATER).slice(0, 1),
])
/** A page of names between the two names of BITS. */
export const BETWEEN = page(10, null, 'c')

/** The search for `b` ends at a node whose keys are all before `b`, so that only the third rule applies. */
export const GAP = stateOf(
  ['aaa', 'aab', 'aac', 'aad'].flatMap((name) => entryLeaves(name, ALICE, LATER).slice(0, 1)),
)

/** All characters that RFC 8785 escapes, and some that it does not. */
const ODD = '"\\/\b\f\n\r\t\u0001\u001f\u007f\u2028é\u{1f600}'
export const ESCAPES = stateOf([
  ...entryLeaves(ODD, ALICE, LATER),
  leafOf(['c', 'scans'], `{\n\t"scans":\r[] }`),
])
export const ODD_NAME = byName(ODD)

export function provenDocuments(): readonly Proven[] {
  const ofState = REQUESTS.map(([name, request], index) => {
    // Signed by all members, and by fewer.
    const signers = [
      [0, 1, 2, 3],
      [0, 1, 2],
      [1, 3],
    ][index % 3] as Signers
    return proven(name, request, state, signers)
  })
  const ofActivities = [...provenRuns()].map(([name, request, run], index) => {
    const signers = index % 2 === 0 ? [0, 1] : [1, 2, 3]
    const document = activitiesDocument(run, { signers })
    return { name, request, signers: signers.length, document }
  })
  const { none, gone, goneBackwards } = withoutActivities()
  const empty = stateOf([])
  const single = stateOf(LEAVES.slice(0, 1))
  const [firstRun] = ofActivities.slice(1)
  return [
    ...ofState,
    ...ofActivities,
    ...(
      [
        ['activities where there never was one', none],
        ['activities where all have gone', gone],
        ['activities backwards where all have gone', goneBackwards],
      ] as const
    ).map(([name, { request, run, ofState }]) => ({
      name,
      request,
      signers: 2,
      document: activitiesDocument(run, { ofState }),
    })),
    {
      ...(firstRun as Proven),
      name: 'a page of activities at the offset of the page before it',
      offset_min: 42,
    },
    proven('a name in the empty state', byName('alice.unverified.ns'), empty),
    proven('a batch in the empty state', BATCH, empty),
    proven('a page in the empty state', page(2, null, ''), empty),
    proven('the rules of the network, of which the state has none', DSO, single),
    proven('the nodes in the empty state', SCANS, empty),
    proven('nodes that are null', SCANS, stateOf([leafOf(['c', 'scans'], canonicalJson(null))])),
    proven('the only name', byName('dso.ns'), single),
    proven('another name next to the only one', byName('alice.unverified.ns'), single),
    proven('a page between two names that part within a byte', BETWEEN, BITS),
    proven('a name between two names that part within a byte', byName('c'), BITS),
    proven('a page of one of two names that part within a byte', page(10, null, 'd'), BITS),
    proven('a page before names that begin with the bits of its end', page(10, null, 'ao'), CARRY),
    proven('an expired name before another that begins where its keys end', byName('x'), ENDS),
    proven('a name that begins where the keys of another end', byName('x\u0001'), ENDS),
    proven('a page of both', page(10, null, 'x'), ENDS),
    proven('a name after a whole subtree', byName('b'), GAP),
    proven('a longer name after a whole subtree', byName('bzz'), GAP),
    proven('a name before a whole subtree', byName('a'), GAP),
    proven('a page after a whole subtree', page(10, null, 'b'), GAP),
    proven('a name with all that is escaped', ODD_NAME, ESCAPES),
    proven('a value with white space', SCANS, ESCAPES),
  ]
}

function proven(
  name: string,
  request: CanonicalRequest,
  { point, prove }: State,
  signers: Signers = [0, 1],
): Proven {
  const document = encodeDocument(certificateOf(point, signers), prove(request))
  return { name, request, signers: signers.length, document }
}
