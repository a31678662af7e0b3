/**
 * The leaves of the state tree in memory. Entries are packed into one array of bytes, where the two leaves of an
 * entry, by name and by party, share a record: a network has many. The few other leaves are objects.
 */
import { assert, fromHex, held, sha256, utf8 } from '@quorumscan/base'
import type { ContractId, PartyId } from '@quorumscan/model'
import type { Leaf } from '@quorumscan/verifier/state-tree'
import type { EntryFacts } from '../storage/plan-versions.ts'

/** A leaf that belongs to no entry carries its value. */
export type StoredLeaf = Leaf & { readonly value?: string }

/** Records lie at multiples of this. */
const BLOCK_BYTES = 16
const BLOCKS_MIN = 1_024
const HASH_BYTES = 32
/** Expiry ‖ hash of the value ‖ rest of the contract id ‖ rest of the party ‖ lengths of hint and name ‖ both. */
const EXPIRES_AT = 0
const VALUE_HASH_AT = 8
const CONTRACT_AT = 40
const PARTICIPANT_AT = 72
const HINT_LENGTH_AT = 104
const NAME_LENGTH_AT = 105
const IS_SYNTHETIC_AT = 106
const TEXTS_AT = 107
/** Stored for an expiry that is null. */
const NEVER = -1
/** The prefixes of contract ids and participants. 64 hex digits follow. */
const CONTRACT_PREFIX = '00'
const PARTICIPANT_PREFIX = '::1220'
/** Numbers from here on are of leaves that belong to no entry: below are two for each block of 16 GiB. */
const VALUE_ID_MIN = 2 ** 30

/** Key of the leaf by name; `contractId` is '' for a synthetic entry. */
export function nameKey(name: string, contractId: ContractId | null): Uint8Array {
  return Buffer.from(`n\0${name}\0${contractId ?? ''}\0`)
}

export function partyKey(user: PartyId, name: string, contractId: ContractId): Uint8Array {
  return Buffer.from(`p\0${user}\0${name}\0${contractId}\0`)
}

export function createLeafStore() {
  let bytes = new Uint8Array(BLOCKS_MIN * BLOCK_BYTES)
  let view = new DataView(bytes.buffer)
  let usedBlocks = 0
  /** Freed records by their count of blocks. */
  const free = held(
    { owner: 'replica', name: 'sizes of freed records', kind: 'state', bound: 'one of each size' },
    new Map<number, number[]>(),
  )
  const values = held(
    {
      owner: 'replica',
      name: 'long values of the state tree',
      kind: 'state',
      bound: 'those of the state',
    },
    new Map<number, StoredLeaf>(),
  )
  let nextValueId = VALUE_ID_MIN

  const allocate = (blocks: number): number => {
    const freed = free.get(blocks)?.pop()
    if (freed !== undefined) return freed
    while ((usedBlocks + blocks) * BLOCK_BYTES > bytes.byteLength) {
      const grown = new Uint8Array(bytes.byteLength + (bytes.byteLength >> 2))
      grown.set(bytes)
      bytes = grown
      view = new DataView(bytes.buffer)
    }
    const block = usedBlocks
    usedBlocks += blocks
    return block
  }

  const blocksOf = (start: number): number =>
    blockCount((bytes[start + HINT_LENGTH_AT] ?? 0) + (bytes[start + NAME_LENGTH_AT] ?? 0))

  /** Copies a text of the record into the key. Returns the position after it. */
  const write = (key: Uint8Array, position: number, from: number, length: number): number => {
    // Short: a view of it would take longer.
    for (let index = 0; index < length; index++) key[position + index] = bytes[from + index] ?? 0
    return position + length
  }
  const writeHex = (key: Uint8Array, position: number, from: number): number => {
    for (let index = 0; index < HASH_BYTES; index++) {
      const byte = bytes[from + index] ?? 0
      key[position + 2 * index] = HEX_DIGITS[byte >> 4] ?? 0
      key[position + 2 * index + 1] = HEX_DIGITS[byte & 15] ?? 0
    }
    return position + 2 * HASH_BYTES
  }

  const entryKey = (id: number): Uint8Array => {
    const start = (id >> 1) * BLOCK_BYTES
    const hintLength = bytes[start + HINT_LENGTH_AT] ?? 0
    const nameLength = bytes[start + NAME_LENGTH_AT] ?? 0
    const isByParty = (id & 1) === 1
    const partyLength = isByParty ? hintLength + PARTICIPANT_PREFIX.length + 2 * HASH_BYTES + 1 : 0
    const idLength =
      bytes[start + IS_SYNTHETIC_AT] === 1 ? 0 : CONTRACT_PREFIX.length + 2 * HASH_BYTES
    // From the pool of Node.js: allocating a separate array takes longer than filling it.
    const key = Buffer.allocUnsafe(2 + partyLength + nameLength + 1 + idLength + 1)
    key[0] = isByParty ? BY_PARTY : BY_NAME
    key[1] = END
    let position = 2
    if (isByParty) {
      position = write(key, position, start + TEXTS_AT, hintLength)
      key.set(PARTICIPANT_PREFIX_BYTES, position)
      position = writeHex(key, position + PARTICIPANT_PREFIX.length, start + PARTICIPANT_AT)
      key[position++] = END
    }
    position = write(key, position, start + TEXTS_AT + hintLength, nameLength)
    key[position++] = END
    if (idLength > 0) {
      key.set(CONTRACT_PREFIX_BYTES, position)
      position = writeHex(key, position + CONTRACT_PREFIX.length, start + CONTRACT_AT)
    }
    key[position] = END
    return key
  }

  return {
    /** The numbers of the leaves of an entry; a synthetic one has a leaf by name only. */
    putEntry({ name, contractId, user, expiresAt, body }: EntryFacts): readonly number[] {
      const [hint = '', participant = ''] = user.split(PARTICIPANT_PREFIX)
      const [hintBytes, nameBytes] = [Buffer.from(hint), Buffer.from(name)]
      assert(hintBytes.length < 256 && nameBytes.length < 256, 'names and hints are short')
      const block = allocate(blockCount(hintBytes.length + nameBytes.length))
      const start = block * BLOCK_BYTES
      view.setFloat64(start + EXPIRES_AT, expiresAt ?? NEVER)
      bytes.set(sha256(body), start + VALUE_HASH_AT)
      bytes.set(hashBytes(contractId?.slice(CONTRACT_PREFIX.length) ?? ZEROS), start + CONTRACT_AT)
      bytes.set(hashBytes(participant), start + PARTICIPANT_AT)
      bytes[start + HINT_LENGTH_AT] = hintBytes.length
      bytes[start + NAME_LENGTH_AT] = nameBytes.length
      bytes[start + IS_SYNTHETIC_AT] = contractId === null ? 1 : 0
      bytes.set(hintBytes, start + TEXTS_AT)
      bytes.set(nameBytes, start + TEXTS_AT + hintBytes.length)
      return contractId === null ? [2 * block] : [2 * block, 2 * block + 1]
    },
    /** The number of the leaf of a constant key. */
    putValue(key: Uint8Array, value: string): number {
      const id = nextValueId++
      values.set(id, { key, expiresAt: null, valueHash: sha256(utf8(value)), value })
      return id
    },
    leafAt(id: number): StoredLeaf {
      if (id >= VALUE_ID_MIN) return values.get(id) as StoredLeaf
      const start = (id >> 1) * BLOCK_BYTES
      const expiresAt = view.getFloat64(start + EXPIRES_AT)
      return {
        key: entryKey(id),
        expiresAt: expiresAt === NEVER ? null : expiresAt,
        valueHash: bytes.slice(start + VALUE_HASH_AT, start + VALUE_HASH_AT + HASH_BYTES),
      }
    },
    keyAt: (id: number) => (id >= VALUE_ID_MIN ? (values.get(id) as StoredLeaf).key : entryKey(id)),
    /** The second of two leaves of an entry is freed together with the first. */
    onFreed(id: number): void {
      if (id >= VALUE_ID_MIN) values.delete(id)
      else if ((id & 1) === 0) {
        const block = id >> 1
        const blocks = blocksOf(block * BLOCK_BYTES)
        const freed = free.get(blocks)
        if (freed === undefined) free.set(blocks, [block])
        else freed.push(block)
      }
    },
  }
}

const BY_NAME = 'n'.charCodeAt(0)
const BY_PARTY = 'p'.charCodeAt(0)
/** Ends each component of a key. */
const END = 0
const ZEROS = '0'.repeat(2 * HASH_BYTES)
const PARTICIPANT_PREFIX_BYTES = utf8(PARTICIPANT_PREFIX)
const HEX_DIGITS = utf8('0123456789abcdef')
const CONTRACT_PREFIX_BYTES = utf8(CONTRACT_PREFIX)

function blockCount(textBytes: number): number {
  return Math.ceil((TEXTS_AT + textBytes) / BLOCK_BYTES)
}

function hashBytes(hex: string): Uint8Array {
  const bytes = fromHex(hex)
  assert(bytes.byteLength === HASH_BYTES, 'contract ids and participants are hashes')
  return bytes
}
