/**
 * Where the nodes are (D-34). The set of nodes is the genesis's; a node says itself, signed, where it
 * can be reached, so one honest source is enough and no quorum is needed to learn the list.
 */

import {
  type CryptoPort,
  encodeAddressStatement,
  fromHex,
  type Genesis,
  isSignature,
} from '@quorumscan/verifier'
import { parseNodeUrl } from './node-url.ts'

/** A node's own statement of where it can be reached, as `/v0/scans` serves it. */
export type AddressRecord = {
  readonly name: string
  readonly url: string
  readonly sequence: number
  /** Ed25519 over the address statement by the node's scan key, lower-case hex. */
  readonly signature: string
}

/** Where a node is, as its newest record says; the URL without trailing slash. */
export type Address = Pick<AddressRecord, 'name' | 'url' | 'sequence'>

const RECORDS_OFFERED_MAX = 1000 // Ten times the largest network; more is noise.

export function createAddressBook(options: {
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly crypto: CryptoPort
  readonly allowPrivate: boolean
  /** Told, as often as it is offered, of what would have been taken over were it not private. */
  readonly onPrivate?: ((address: Address) => void) | undefined
}) {
  const recordByName = new Map<string, AddressRecord>()
  const keyByName = new Map(options.genesis.nodes.map((node) => [node.name, node.scanKey]))

  const isNewer = ({ name, sequence }: AddressRecord): boolean =>
    sequence > (recordByName.get(name)?.sequence ?? -1)

  const isSigned = (record: AddressRecord): Promise<boolean> =>
    options.crypto.verifyEd25519({
      publicKey: fromHex(keyByName.get(record.name) as string), // Asked for nodes of the genesis.
      signature: fromHex(record.signature),
      message: encodeAddressStatement({ ...record, genesisHash: options.genesisHash }),
    })

  return {
    /** Takes over what is signed by the node it names and newer than what is known. Returns what was. */
    async offer(records: readonly unknown[]): Promise<Address[]> {
      const taken: Address[] = []
      for (const record of records.slice(0, RECORDS_OFFERED_MAX)) {
        if (!isRecord(record) || !keyByName.has(record.name)) continue
        const { name, sequence } = record
        const url = parseNodeUrl(record.url, true)
        if (url === undefined || !isNewer(record) || !(await isSigned(record))) continue
        // Asked again after the check, during which another source may have brought a newer one.
        if (!isNewer(record)) continue
        const address = { name, url, sequence }
        if (parseNodeUrl(url, options.allowPrivate) === undefined) options.onPrivate?.(address)
        else {
          recordByName.set(name, record)
          taken.push(address)
        }
      }
      return taken
    },
    /** The newest record of each node that has one. */
    records: (): AddressRecord[] => [...recordByName.values()],
  }
}

/** The records in a body of `GET /v0/scans`; empty if it is not of that shape. */
export function recordsOfScans(body: unknown): unknown[] {
  const groups = scansOf(body)
  return groups.flatMap((group) =>
    scansOf(group).map((scan) => {
      const { svName, publicUrl, sequence, signature } = Object(scan)
      return { name: svName, url: publicUrl, sequence, signature }
    }),
  )
}

/** Groups have a member of the same name as the body that holds them. */
function scansOf(value: unknown): unknown[] {
  const { scans } = Object(value)
  return Array.isArray(scans) ? scans : []
}

/** Not looked at here: that the name is in the genesis, and the sequence newer than what is known or than -1. */
function isRecord(value: unknown): value is AddressRecord {
  const record = Object(value)
  return (
    typeof record.url === 'string' &&
    Number.isSafeInteger(record.sequence) &&
    isSignature(record.signature)
  )
}
