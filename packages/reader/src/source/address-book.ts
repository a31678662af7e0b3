/**
 * The addresses of the nodes (D-34). The genesis has the set of nodes, and each node signs its own address. So one
 * honest source is enough, and no quorum is needed.
 */

import {
  type CryptoPort,
  encodeAddressStatement,
  fromHex,
  type Genesis,
  isSignature,
  isTrusted,
  memberSetOf,
  membersOf,
  type TrustRule,
} from '@quorumscan/verifier'
import { parseNodeUrl } from './node-url.ts'

/** A node's signed statement of its address, as `/v0/scans` serves it. */
export type AddressRecord = {
  readonly name: string
  readonly url: string
  readonly sequence: number
  /** Ed25519 over the address statement by the node's scan key, lower-case hex. */
  readonly signature: string
}

/** The address of a node by its newest record; the URL without trailing slash. */
export type Address = Pick<AddressRecord, 'name' | 'url' | 'sequence'>

const RECORDS_MAX = 1000 // Ten times the largest network.

export function createAddressBook(options: {
  readonly genesis: Genesis
  readonly genesisHash: string
  /** Records of other members are ignored. */
  readonly trust?: TrustRule | null
  readonly crypto: CryptoPort
  readonly allowPrivate: boolean
  /** Called each time with an address that is refused only because it is private. */
  readonly onPrivate?: ((address: Address) => void) | undefined
}) {
  const knownByName = new Map<string, { readonly record: AddressRecord; readonly url: string }>()
  const keyByName = new Map(
    memberSetOf(options.genesis).members.map((node) => [node.name, node.scanKey]),
  )

  const isNewer = ({ name, sequence }: AddressRecord): boolean =>
    sequence > (knownByName.get(name)?.record.sequence ?? -1)

  const isSigned = (record: AddressRecord): Promise<boolean> =>
    options.crypto.verifyEd25519({
      publicKey: fromHex(keyByName.get(record.name) as string), // Asked for nodes of the genesis.
      signature: fromHex(record.signature),
      message: encodeAddressStatement({ ...record, genesisHash: options.genesisHash }),
    })

  return {
    /**
     * Adds records that their node has signed and that are newer than the known one; of a node only the first record, as
     * checking signatures takes time. Returns their addresses.
     */
    async add(records: readonly unknown[]): Promise<Address[]> {
      const added: Address[] = []
      const seen = new Set<string>()
      for (const record of records.slice(0, RECORDS_MAX)) {
        if (!isRecord(record) || !keyByName.has(record.name)) continue
        const { name, sequence } = record
        if (!isTrusted(options.trust, name) || seen.has(name)) continue
        seen.add(name)
        const url = parseNodeUrl(record.url, true)
        if (url === undefined || !isNewer(record) || !(await isSigned(record))) continue
        // Tested again: another source may have brought a newer record during the check.
        if (!isNewer(record)) continue
        const address = { name, url, sequence }
        if (parseNodeUrl(url, options.allowPrivate) === undefined) options.onPrivate?.(address)
        else {
          knownByName.set(name, { record, url })
          added.push(address)
        }
      }
      return added
    },
    /** The newest record of each node that has one. */
    records: (): AddressRecord[] => [...knownByName.values()].map(({ record }) => record),
    /** Whether each node whose records count has one. */
    isComplete: (): boolean =>
      [...keyByName.keys()].every(
        (name) => knownByName.has(name) || !isTrusted(options.trust, name),
      ),
    /** Their URLs, without trailing slash. */
    urls: (): string[] => [...knownByName.values()].map(({ url }) => url),
  }
}

/** The records in a body of `GET /v0/scans`; null if it is not of that shape. */
export function recordsOfScans(body: unknown): unknown[] | null {
  const groups = scansOf(body)
  if (groups === null) return null
  return groups.flatMap((group) =>
    (scansOf(group) ?? []).map((scan) => {
      const { svName, publicUrl, sequence, signature } = membersOf(scan)
      return { name: svName, url: publicUrl, sequence, signature }
    }),
  )
}

/** Groups have a member of the same name as the body that holds them. */
function scansOf(value: unknown): unknown[] | null {
  const { scans } = membersOf(value)
  return Array.isArray(scans) ? scans : null
}

/** The caller tests that the name is in the genesis, and that the sequence is newer than the known one or -1. */
function isRecord(value: unknown): value is AddressRecord {
  const { url, sequence, signature } = membersOf(value)
  return typeof url === 'string' && Number.isSafeInteger(sequence) && isSignature(signature)
}
