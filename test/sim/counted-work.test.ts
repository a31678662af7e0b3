/** The work of readers: signatures checked, hashes made, bytes and requests, and how they grow with names and members. */
import { createHash } from 'node:crypto'
import { createSignedState, createTestNetwork, simCrypto, simEntry } from '@quorumscan/testkit'
import {
  createCertifiedVerifier,
  entriesQuery,
  type HashedNetwork,
  nameQuery,
  type RangeQuery,
} from '@quorumscan/verifier/certified'
import { expect, it } from 'vitest'
import { ALICE, createWorld } from './reader/world.ts'

const RECORD_TIME = 1_700_000_000_000_000
const LIFE_MICROS = 1_000_000_000
const nameOf = (index: number) => `name-${String(index).padStart(4, '0')}.unverified.ns`

type QueryOf = (names: number, network: HashedNetwork) => RangeQuery<unknown>
type Work = {
  readonly signatures: number
  readonly hashes: number
  readonly bytes: number
  /** Of a second answer with the same certificate. */
  readonly signaturesAgain: number
}

/** The work of verifying the answer to a query of a network with so many members and names. */
async function workOf(
  { members, names }: { readonly members: number; readonly names: number },
  queryOf: QueryOf,
): Promise<Work> {
  const network = createTestNetwork({ nodeCount: members })
  const expiresAt = RECORD_TIME + LIFE_MICROS
  const entries = Array.from({ length: names }, (_, index) =>
    simEntry(nameOf(index), { expiresAt }),
  )
  const state = createSignedState(network, { offset: 7, recordTime: RECORD_TIME, entries })
  let [signatures, hashes] = [0, 0]
  const { genesis, genesisHash } = network
  const hashed = {
    genesis,
    genesisHash,
    sha256: (bytes: Uint8Array) => {
      hashes++
      return new Uint8Array(createHash('sha256').update(bytes).digest())
    },
  }
  const crypto: typeof simCrypto = {
    ...simCrypto,
    verifyEd25519: (signed) => {
      signatures++
      return simCrypto.verifyEd25519(signed)
    },
  }
  const verifier = createCertifiedVerifier({ ...hashed, crypto })
  const query = queryOf(names, hashed)
  const document = state.document(query)
  await verifier.verify(document, query, 'weak')
  const first = { signatures, hashes, bytes: document.length }
  await verifier.verify(document, query, 'weak')
  return { ...first, signaturesAgain: signatures - first.signatures }
}

const lookup: QueryOf = (names) => nameQuery(nameOf(Math.floor(names / 2)))
const page: QueryOf = (_, network) => entriesQuery('', { pageSize: 5, pageToken: null }, network)

it.each([4, 13])('%d members: each signature is checked once', async (members) => {
  const work = await workOf({ members, names: 10 }, lookup)
  expect(work).toMatchObject({ signatures: members, signaturesAgain: 0 })
})

/** Growth from ten to a thousand names: logarithmic, by less than two levels of the tree for each doubling. */
const GROWTH = 100
const LEVEL = { hashes: 1, bytes: 50 }

it.each([
  [
    'a lookup',
    lookup,
    { signatures: 4, hashes: 7, bytes: 1521 },
    { signatures: 4, hashes: 15, bytes: 1921 },
  ],
  [
    'a page of five',
    page,
    { signatures: 4, hashes: 22, bytes: 3356 },
    { signatures: 4, hashes: 30, bytes: 3756 },
  ],
] as const)('%s of ten names and of a thousand', async (_, queryOf, ofTen, ofThousand) => {
  const few = await workOf({ members: 4, names: 10 }, queryOf)
  const many = await workOf({ members: 4, names: 10 * GROWTH }, queryOf)
  expect([few, many]).toMatchObject([ofTen, ofThousand])
  const levels = 2 * Math.log2(GROWTH)
  expect(many.hashes - few.hashes).toBeLessThan(levels * LEVEL.hashes)
  expect(many.bytes - few.bytes).toBeLessThan(levels * LEVEL.bytes)
})

/** Nodes that a reader asks about a lookup by votes: f + 1, and all in a sample of the reads (D-98). */
const ASKED = [
  { members: 4, asked: 2 },
  { members: 13, asked: 5 },
]

it.each(ASKED)(
  'a lookup by votes of $members members is $asked requests, for one name or a hundred',
  async ({ members, asked }) => {
    const world = createWorld({ nodeCount: members })
    const requests = () =>
      [...world.network.requestCounts.values()].reduce((sum, count) => sum + count, 0)
    await world.lookup(ALICE)
    for (const count of [1, 100]) {
      const counted = new Set<number>()
      for (let read = 0; read < READS; read++) {
        const before = requests()
        const lookups = Array.from({ length: count }, (_, index) => ({ name: nameOf(index) }))
        await world.clock.run(world.reader.lookup(lookups))
        counted.add(requests() - before)
      }
      expect([...counted].filter((one) => one !== members)).toEqual([asked])
    }
  },
)
/** Enough that not all of them are in the sample. */
const READS = 10
