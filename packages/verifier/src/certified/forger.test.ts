/**
 * The reader of certified answers against the forger. To show that the forger finds mistakes, it also runs against
 * broken readers: each is the reader with one line of its source replaced.
 * @module-tag thorough
 * @module-tag rest
 */
import { describe, expect, it } from 'vitest'
import { importMutant, type Mutation } from '../testing/mutant.ts'
import * as reader from './index.ts'
import { createDice } from './testing/dice.ts'
import { findFlaws, honestDocuments, network } from './testing/forger.ts'

/** One byte in so many is changed, by chance, with the tags of that test. */
const BYTES_PER_CHANGE = [
  { bytes: 4, tags: ['many-cases'] },
  { bytes: 1, tags: ['long', 'properties'] },
] as const

const READER = 'packages/verifier/src/certified/index.ts'

const MUTANTS: readonly Mutation[] = [
  {
    mistake: 'any number of signers is enough',
    file: 'packages/verifier/src/certified/document.ts',
    text: 'if (checked.signers.length >= signerCount)',
    by: 'if (checked.signers.length >= 1)',
  },
  {
    mistake: 'f signers are enough',
    file: 'packages/verifier/src/genesis/threshold.ts',
    text: 'const votesMin = trust?.threshold ?? set.f + 1',
    by: 'const votesMin = trust?.threshold ?? set.f',
  },
  {
    mistake: 'a member that signs twice counts twice',
    file: 'packages/verifier/src/certificates/certificate.ts',
    text: 'for (const { name, scanKey } of memberSetOf(genesis).members) {',
    by: 'for (const { name, scanKey } of signatures.flatMap(([signer]) => genesis.nodes.filter(({ name }) => name === signer))) {',
  },
  {
    mistake: 'signatures are not checked',
    file: 'packages/verifier/src/certificates/certificate.ts',
    text: '(await Promise.all(checks)).indexOf(false)',
    by: '(await Promise.all(checks)).indexOf(undefined as never)',
  },
  {
    mistake: 'only the first signature is checked',
    file: 'packages/verifier/src/certificates/certificate.ts',
    text: '(await Promise.all(checks)).indexOf(false)',
    by: '(await Promise.all(checks.slice(0, 1))).indexOf(false)',
  },
  {
    mistake: 'the key of the first member is everybody’s',
    file: 'packages/verifier/src/certificates/certificate.ts',
    text: 'const publicKey = fromHex(scanKey)',
    by: 'const publicKey = fromHex(genesis.nodes[0]?.scanKey ?? scanKey)',
  },
  {
    mistake: 'strangers count',
    file: 'packages/verifier/src/certificates/certificate.ts',
    text: 'if (index < signatures.length)',
    by: 'if (index < 0)',
  },
  {
    mistake: 'the network is the one that the certificate names',
    file: 'packages/verifier/src/certificates/certificate.ts',
    text: 'certificate.genesisHash !== genesisHash',
    by: 'certificate.genesisHash === ""',
  },
  {
    mistake: 'the offset is not signed',
    file: 'packages/verifier/src/statements/statements.ts',
    text: 'return encode(STATE, statement, [...historyPoint(statement), hash(statement.stateRoot)])',
    by: 'return encode(STATE, statement, [hash(statement.stateRoot)])',
  },
  {
    mistake: 'a walk continues at any offset',
    file: 'packages/verifier/src/certified/document.ts',
    text: 'stateQuery.offset !== offset',
    by: 'stateQuery.offset < 0',
  },
  {
    mistake: 'nothing is too old',
    file: 'packages/verifier/src/certified/freshness.ts',
    text: '!(nowMicros - recordTime <= maxAgeMs * 1000)',
    by: 'false',
  },
  {
    mistake: 'nothing lies before what was seen',
    file: 'packages/verifier/src/certified/freshness.ts',
    text: '!(offset >= offsetMin)',
    by: 'false',
  },
  {
    mistake: 'the root is not compared',
    file: 'packages/verifier/src/proof/range-proof.ts',
    text: 'if (!bytesEqual(shown.hash, root))',
    by: 'if (shown.hash === root)',
  },
  {
    mistake: 'an empty tree has any root',
    file: 'packages/verifier/src/proof/range-proof.ts',
    text: 'const isEmpty = bytesEqual(root, EMPTY_ROOT)',
    by: 'const isEmpty = items.length === 0 || bytesEqual(root, EMPTY_ROOT)',
  },
  {
    mistake: 'the value is that of the first document that showed the key',
    file: 'packages/verifier/src/proof/range-proof.ts',
    text: 'const valueHash = isShown ? sha256(utf8(value)) : parseHash(value_hash)',
    by: `const known = ((decodeLeaf as unknown as { hashes: Map<string, Uint8Array> }).hashes ??= new Map())
      const valueHash = (isShown && known.get(key.join()))
        || (isShown ? sha256(utf8(value)) : parseHash(value_hash))
      if (isShown) known.set(key.join(), valueHash)`,
  },
  {
    mistake: 'a proof has many spellings',
    file: 'packages/verifier/src/proof/range-proof.ts',
    text: 'if (joinProofs(needed.map((pruned) => encodeProof(pruned, readValue))) !== proof)',
    by: 'if (items.length === -1)',
  },
  {
    mistake: 'a hash has many spellings',
    file: 'packages/verifier/src/proof/range-proof.ts',
    text: 'if (hash?.length === HASH_BYTES && toBase64(hash) === text) return hash',
    by: 'if (hash?.length === HASH_BYTES) return hash',
  },
  {
    mistake: 'what was cut off is taken for what lies outside',
    file: 'packages/verifier/src/proof/prune.ts',
    text: 'const visit = (node: N, place: RangePosition, known: KeyBelow | null): Pruned => {',
    by: 'const visit = (node: N, place: RangePosition, known: KeyBelow | null): Pruned => {\n if ((node as { opened?: unknown }).opened === null) return cut(node)',
  },
  {
    mistake: 'the prefix of what was cut off is not looked at to its end',
    file: 'packages/verifier/src/proof/bits.ts',
    text: "isSettled ? 'from' : 'both'",
    by: "'from'",
  },
  {
    mistake: 'the prefix of what was cut off ends before the bit that parts it from its sibling',
    file: 'packages/verifier/src/proof/bits.ts',
    text: 'side - bitAt(bound, bit)',
    by: 'bitAt(key, bit) - bitAt(bound, bit)',
  },
  {
    mistake: 'the prefix of what was cut off is looked at up to its last bit only',
    file: 'packages/verifier/src/proof/bits.ts',
    text: 'differsAt < bit ? bitAt(key, differsAt) - bitAt(bound, differsAt) :',
    by: '',
  },
  {
    mistake: 'what lies before the run belongs to it',
    file: 'packages/verifier/src/proof/prune.ts',
    text: 'compareKeys(leaf.key, from) >= 0 &&',
    by: '',
  },
  {
    mistake: 'the leaves after the run belong to it',
    file: 'packages/verifier/src/proof/prune.ts',
    text: 'compareKeys(leaf.key, to) < 0 &&',
    by: '',
  },
  {
    mistake: 'a run has one leaf more than its limit',
    file: 'packages/verifier/src/proof/prune.ts',
    text: 'visibleCount === limit',
    by: 'visibleCount === limit + 1',
  },
  {
    mistake: 'nothing is claimed after the first leaf of a run',
    file: 'packages/verifier/src/proof/prune.ts',
    text: 'visibleCount === limit',
    by: 'visibleCount === 1',
  },
  {
    mistake: 'an entry is visible when it expires',
    file: 'packages/verifier/src/proof/prune.ts',
    text: 'leaf.expiresAt > at',
    by: 'leaf.expiresAt >= at',
  },
  {
    mistake: 'nothing expires',
    file: 'packages/verifier/src/proof/prune.ts',
    text: 'leaf.expiresAt > at',
    by: 'leaf.expiresAt > 0',
  },
  {
    mistake: 'the run of a name holds the names that it begins',
    file: 'packages/verifier/src/certified/query.ts',
    text: '\\x01`)',
    by: '\\xff`)',
  },
  {
    mistake: 'the run of a prefix ends too late',
    file: 'packages/verifier/src/certified/lists.ts',
    text: '(successor.at(-1) as number) + 1',
    by: '(successor.at(-1) as number) + 2',
  },
  {
    mistake: 'a page begins with the last entry of the page before',
    file: 'packages/verifier/src/certified/lists.ts',
    text: 'return rangeUnder(components, 1).to',
    by: 'return rangeUnder(components, 1).from',
  },
  {
    mistake: 'the entry after a page of a prefix is not requested',
    file: 'packages/verifier/src/certified/lists.ts',
    text: 'limit: page.pageSize + 1,',
    by: 'limit: page.pageSize,',
  },
  {
    mistake: 'the entry after a page of a party is not requested',
    file: 'packages/verifier/src/certified/lists.ts',
    text: "rangeUnder(['p', party], page.pageSize + 1)",
    by: "rangeUnder(['p', party], page.pageSize)",
  },
  {
    mistake: 'a party is looked up as a name',
    file: 'packages/verifier/src/certified/lookups.ts',
    text: "return firstUnder(['p', party])",
    by: "return firstUnder(['n', party])",
  },
  {
    mistake: 'the ranges of a batch are given to its lookups one each',
    file: 'packages/verifier/src/certified/lookups.ts',
    text: 'next += ranges.length',
    by: 'next += 1',
  },
  {
    mistake: 'the operator has no name of its own',
    file: 'packages/verifier/src/certified/lookups.ts',
    text: "if (party === genesis.dso) return 'dso.ns'",
    by: '',
  },
  {
    mistake: 'members have no names of their own',
    file: 'packages/verifier/src/certified/lookups.ts',
    text: 'return node === undefined ? null',
    by: 'return node !== null ? null',
  },
  {
    mistake: 'who is called like a member has its name',
    file: 'packages/verifier/src/certified/lookups.ts',
    text: 'toHex(sha256(fromHex(operatorKey)))',
    by: 'party.slice(-64)',
  },
  {
    mistake: 'the list of a member lacks its own name',
    file: 'packages/verifier/src/certified/lists.ts',
    text: 'if (synthetic !== null &&',
    by: 'if (synthetic === "" &&',
  },
  {
    mistake: 'the synthetic name of a member is on each page of its list',
    file: 'packages/verifier/src/certified/lists.ts',
    text: '(position === null || compareNames(synthetic, position.after) > 0)',
    by: 'true',
  },
  {
    mistake: 'the synthetic name of a member is last in its list',
    file: 'packages/verifier/src/certified/lists.ts',
    text: 'if (runs.length > 1) found.sort(',
    by: 'if (runs.length > 9) found.sort(',
  },
  {
    mistake: 'the name of an entry is not that of its key',
    file: 'packages/verifier/src/certified/query.ts',
    text: 'entry?.name === name &&',
    by: 'entry !== null &&',
  },
  {
    mistake: 'the user of an entry is not that of its key',
    file: 'packages/verifier/src/certified/query.ts',
    text: 'entry?.user === user &&',
    by: '',
  },
  {
    mistake: 'the entry of a member belongs to any party',
    file: 'packages/verifier/src/certified/lookups.ts',
    text: 'if (entry === null || entry.user === party) return entry',
    by: 'if (entry === null || party !== "") return entry',
  },
  {
    mistake: 'a text with U+0000 is the name before it',
    file: 'packages/verifier/src/certified/query.ts',
    text: String.raw`!text.includes('\0') && `,
    by: '',
  },
  {
    mistake: 'half of a surrogate pair becomes the replacement character',
    file: 'packages/verifier/src/certified/query.ts',
    text: ' && !LONE_SURROGATE.test(text)',
    by: '',
  },
]

describe('the forger', () => {
  it('cannot make the reader accept a forgery', { tags: ['many-cases'] }, async () => {
    const flaws = []
    for await (const flaw of findFlaws(reader, { cutCount: 100, roll: createDice() }))
      flaws.push(flaw)
    expect(flaws).toEqual([])
  })

  for (const { bytes: bytesPerChange, tags } of BYTES_PER_CHANGE)
    it(`cannot make it accept a document with one byte changed, removed or doubled, for one byte in ${bytesPerChange}`, {
      tags: [...tags],
    }, async () => {
      const roll = createDice()
      const verifier = reader.createCertifiedVerifier(network)
      for (const { document, request } of honestDocuments()) {
        const stateQuery = reader.queryOf(request, network)
        const bytes = Buffer.from(document)
        for (const [index, byte] of bytes.entries()) {
          const changes = [[byte ^ (1 << roll(8))], [], [byte, byte]]
          const change = Buffer.from(changes[roll(3)] ?? [])
          const changed = Buffer.concat([
            bytes.subarray(0, index),
            change,
            bytes.subarray(index + 1),
          ])
          if (changed.equals(bytes) || roll(bytesPerChange) > 0) continue
          const taken = await verifier.verify(changed, stateQuery, 'weak').then(
            () => 'taken',
            ({ name }: Error) => name,
          )
          expect(taken, `${index}: ${changed}`).toBe('InvalidProof')
        }
      }
    })

  it.each(MUTANTS)('notices where $mistake', async (mutant) => {
    const broken = await importMutant<typeof reader>(READER, mutant)
    const { value: flaw } = await findFlaws(broken, { cutCount: 10, roll: createDice() }).next()
    expect(flaw).toBeDefined()
  })
})
