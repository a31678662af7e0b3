/** A state with private keys, from which implementers of verifiers can make their own vectors. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keyPairFromSeed, toHex } from '@quorumscan/base'
import { encodeStateStatement, hashGenesis, parseGenesis } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { readStored } from '../support/offline-verifier.ts'
import { buildToyState } from './certified.ts'

const path = join(import.meta.dirname, 'toy-state.json')
const sha256 = (...parts: readonly Uint8Array[]) =>
  createHash('sha256').update(Buffer.concat(parts)).digest()
const u16 = (value: number) => Uint8Array.of(value >> 8, value & 255)
const u64 = (value: bigint) => Buffer.from(value.toString(16).padStart(16, '0'), 'hex')

type Toy = {
  readonly genesis: string
  readonly scan_keys: readonly { name: string; private_key: string; public_key: string }[]
  readonly offset: number
  readonly record_time: number
  readonly history_hash: string
  readonly state_root: string
  readonly leaves: readonly { key: string[]; expires_at: number | null; value: string }[]
  readonly activities: readonly { event_id: string; record_time: number; row: string }[]
}

// `vitest run --project vectors -u` writes it.
it('the published toy state equals the one that the code builds', async () => {
  await expect(buildToyState()).toMatchFileSnapshot(path)
})

it('the toy state has the root and activity tree of the documented rules, and the keys of the vectors', async () => {
  const toy: Toy = JSON.parse(readFileSync(path, 'utf8'))
  expect(rootOf(toy).toString('hex')).toBe(toy.state_root)

  const leaf = toy.leaves.find(({ key }) => key[0] === 'a')
  const root = activityRoot(
    toy.activities.map(({ event_id, record_time, row }) => {
      const place = [Buffer.from(event_id), u64(BigInt(record_time))]
      return sha256(Uint8Array.of(0), ...place, sha256(Buffer.from(row)))
    }),
  )
  expect(JSON.parse(leaf?.value ?? '')).toEqual({ root: toHex(root), size: toy.activities.length })

  const genesis = parseGenesis(JSON.parse(toy.genesis))
  const genesisHash = await hashGenesis(genesis)
  const statement = encodeStateStatement({
    genesisHash,
    offset: toy.offset,
    recordTime: toy.record_time,
    historyHash: toy.history_hash,
    stateRoot: toy.state_root,
  })
  const signatures = toy.scan_keys.map(({ name, private_key }, index) => {
    const { publicKey, sign } = keyPairFromSeed(private_key)
    expect(publicKey).toBe(genesis.nodes[index]?.scanKey)
    return [name, toHex(sign(statement))]
  })
  const [first] = readStored().vectors
  if (first === undefined || !('document' in first)) throw new Error('no vector with a document')
  expect(first.signers).toBe(4)
  expect(JSON.parse(first.document).certificate.signatures).toEqual(signatures)
})

function rootOf({ leaves }: Toy): Buffer {
  const keyed = leaves.map(({ key, expires_at, value }) => {
    const bytes = Buffer.from(key.map((component) => `${component}\0`).join(''))
    const expiry = expires_at === null ? 2n ** 64n - 1n : BigInt(expires_at)
    const parts = [u16(bytes.length), bytes, u64(expiry), sha256(Buffer.from(value))]
    return {
      bits: [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join(''),
      hash: sha256(Uint8Array.of(0), ...parts),
    }
  })
  const join = (below: typeof keyed): Buffer => {
    const [first] = below
    if (first === undefined) return Buffer.alloc(32)
    if (below.length === 1) return first.hash
    let bit = 0
    while (below.every(({ bits }) => bits[bit] === first.bits[bit])) bit++
    const side = (digit: string) => join(below.filter(({ bits }) => bits[bit] === digit))
    return sha256(Uint8Array.of(1), u16(bit), side('0'), side('1'))
  }
  return join(keyed)
}

function activityRoot(hashes: readonly Uint8Array[]): Uint8Array {
  if (hashes.length <= 1) return hashes[0] ?? sha256()
  let left = 1
  while (2 * left < hashes.length) left *= 2
  const parts = [hashes.slice(0, left), hashes.slice(left)].map(activityRoot)
  return sha256(Uint8Array.of(1), ...parts)
}
