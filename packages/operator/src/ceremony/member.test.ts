import { createKeyPair, fromUtf8, type KeyPair, utf8 } from '@quorumscan/base'
import { CommandError } from '@quorumscan/runtime'
import { canonicalJson, membersOf } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { KEYS_OF, parseMember, ROLES, type Role, writeMember } from './member.ts'

const input = {
  name: 'sv-1',
  createdAtMicros: 1_700_000_000_000_000,
  url: 'https://sv-1.example:8443/scan',
  engineAddress: 'sv-1.example:26656',
}

type KeyPairs = Record<(typeof KEYS_OF)[Role][number], KeyPair>

/** The key pairs of this role; the type has those of all roles. */
function keysOf(role: Role): KeyPairs {
  return Object.fromEntries(KEYS_OF[role].map((kind) => [kind, createKeyPair()])) as KeyPairs
}

/** This member file with changed JSON members, in canonical form. */
function altered(text: string, change: object): string {
  return `${canonicalJson({ ...JSON.parse(text), ...change })}\n`
}

it.each(ROLES)('a %s reads what it wrote', (role) => {
  const pairs = keysOf(role)
  const member = parseMember(writeMember(role, input, pairs))
  expect(member).toMatchObject({ ...input, role })
  for (const [kind, { publicKey, seed }] of Object.entries(pairs)) {
    expect(membersOf(member.keys)[kind]).toBe(publicKey)
    expect(JSON.stringify(member)).not.toContain(seed)
  }
})

it('refuses a file in which any one byte is another, or the end is', () => {
  const bytes = utf8(writeMember('super-validator', input, keysOf('super-validator')))
  const read = (changed: Uint8Array) => {
    try {
      return parseMember(fromUtf8(changed))
    } catch (error) {
      // Bytes that are not UTF-8, or an error message for the operator.
      return error instanceof TypeError || error instanceof CommandError ? null : error
    }
  }
  expect(read(bytes)).not.toBe(null)
  for (let at = 0; at < bytes.length; at++)
    for (const bit of [0x01, 0x20, 0x80]) {
      const changed = bytes.slice()
      changed[at] = (bytes[at] ?? 0) ^ bit
      expect(read(changed), `bit ${bit} of byte ${at}`).toBe(null)
    }
  for (const more of ['\n', ' ', '}', '\0'])
    expect(read(utf8(fromUtf8(bytes) + more)), JSON.stringify(more)).toBe(null)
  expect(read(bytes.slice(0, -1))).toBe(null)
  expect(read(utf8(`\uFEFF${fromUtf8(bytes)}`))).toBe(null)
})

it.each(ROLES.flatMap((role) => KEYS_OF[role].map((kind) => [role, kind] as const)))(
  'refuses a %s whose %s key belongs to another member',
  (role, kind) => {
    const own = keysOf(role)
    const stolen = { ...createKeyPair(), sign: createKeyPair().sign }
    expect(() => writeMember(role, input, { ...own, [kind]: stolen })).toThrow(
      `the ${kind} key of sv-1 did not sign it`,
    )
  },
)

it('refuses the proof of another key, or of another file', () => {
  const pair = createKeyPair()
  const own = { ...keysOf('super-validator'), scan: pair, operator: pair }
  const text = writeMember('super-validator', input, own)
  const { proofs } = JSON.parse(text)
  const swapped = { ...proofs, scan: proofs.operator, operator: proofs.scan }
  expect(() => parseMember(altered(text, { proofs: swapped }))).toThrow('did not sign it')
  for (const change of [
    { name: 'sv-2' },
    { createdAtMicros: 1 },
    { url: null },
    { engineAddress: 'sv-2.example:26656' },
  ])
    expect(() => parseMember(altered(text, change)), Object.keys(change)[0]).toThrow('did not sign')
})

it.each([
  [{ name: '../sv-1' }],
  [{ name: 'SV-1' }],
  [{ name: '' }],
  [{ url: 'https://sv-1.example/' }],
  [{ url: 'https://SV-1.example' }],
  [{ url: 'https://sv-1.example:443' }],
  [{ url: 'https://sv-1.example?x' }],
  [{ url: 'https://user@sv-1.example' }],
  [{ url: 'ftp://sv-1.example' }],
  [{ url: 'http://sv-1.example' }],
  [{ engineAddress: 'sv-1.example' }],
  [{ engineAddress: 'sv-1.example:0' }],
  [{ engineAddress: 'sv-1.example:65536' }],
  [{ createdAtMicros: 0 }],
  [{ createdAtMicros: '1' }],
  [{ role: 'validator' }],
  [{ version: 2 }],
  [{ note: 'more' }],
])('refuses %j, even if it is signed', (change) => {
  const text = writeMember('super-validator', input, keysOf('super-validator'))
  expect(() => parseMember(altered(text, change))).toThrow(CommandError)
  expect(() => parseMember(altered(text, change))).not.toThrow('did not sign')
})

it('refuses a key of small order, for which every caller could sign', () => {
  const own = keysOf('super-validator')
  const publicKey = `01${'0'.repeat(62)}`
  expect(() =>
    writeMember('super-validator', input, { ...own, scan: { ...createKeyPair(), publicKey } }),
  ).toThrow('must be a usable Ed25519 key')
})
