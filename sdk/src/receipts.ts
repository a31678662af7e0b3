/** Verifies receipts offline, at any later time. It needs the genesis document and its pinned hash. */

import {
  type CryptoPort,
  formatInstant,
  type Genesis,
  type Lookup,
  memberOf,
  memberSetOf,
  membersOf,
  type Threshold,
  type TrustList,
  type TrustRule,
  thresholdVotes,
} from '@quorumscan/verifier'
import {
  createCertifiedVerifier,
  InvalidProof,
  lookupQuery,
  sha256,
} from '@quorumscan/verifier/certified'
import { checkGenesis } from './checked-genesis.ts'
import { failure, invalidArgument, type QuorumscanError } from './errors.ts'
import { assertGenesisPin, isGenesisHash, wrongGenesis } from './genesis-pin.ts'
import { toEntry } from './names/bounded.ts'
import type { NameEntry } from './names/lookup-types.ts'
import { parseName } from './names/parse-name.ts'
import { loadPart } from './platform/load-part.ts'
import { anything, assertOptions, isObject } from './platform/options.ts'
import { platformCrypto, platformSha256 } from './platform/platform-crypto.ts'
import { shownValue } from './platform/shown-value.ts'

export type { CertifiedReceipt } from '@quorumscan/reader/certified'
export type { CryptoPort, Genesis, GenesisNode, TrustList, TrustRule } from '@quorumscan/verifier'
export type { NameEntry } from './names/lookup-types.ts'

/** What a receipt proves: the entry at an offset, signed by these members. */
export type VerifiedReceipt = {
  /** null: it is proven that no entry existed. */
  readonly entry: NameEntry | null
  readonly offset: number
  /** Record time of that offset. */
  readonly recordTime: string
  readonly historyHash: string
  /** Members that signed the state; of a trust rule, its members. */
  readonly signers: readonly string[]
  /** The rule that was applied; null: f+1 of all members, or the `threshold`. */
  readonly trust: TrustRule | null
  /** The pinned network of the receipt. */
  readonly genesisHash: string
}

/** Options of `verifyReceipt`. */
export type VerifyReceiptOptions = {
  /**
   * The pinned hash of the genesis document (64 hex digits), or the document itself if it is part of the program. An
   * array if receipts may be older than the newest genesis.
   */
  readonly genesis: string | Genesis | readonly (string | Genesis)[]
  /**
   * The genesis documents of pinned hashes, from any source, such as a seed or a file next to the receipt. Each one must
   * be pinned.
   */
  readonly documents?: readonly unknown[]
  /** The entry must have this name. Pass it as people type it. Pass either `name` or `party`. */
  readonly name?: string
  /** The entry must be the one that represents this party. */
  readonly party?: string
  /** Members that must have signed. Default `weak`: f+1, or the threshold of `trust`. */
  readonly threshold?: Threshold
  /**
   * Only the signatures of these members count. The rule that a receipt names is not applied: it shows what its reader
   * applied, and is not signed.
   */
  readonly trust?: TrustList
  /** Default: WebCrypto. */
  readonly crypto?: CryptoPort
}

/** What has no check here is checked where it is used. */
const CHECKS = {
  genesis: anything,
  documents: anything,
  name: anything,
  party: anything,
  threshold: anything,
  trust: isObject,
  crypto: isObject,
} as const

const loadNodePort = () => loadPart(() => import('./platform/node-port.ts'))

/**
 * Verifies a receipt of a lookup, which is a certified document.
 *
 * @example const { entry } = await verifyReceipt(receipt, { genesis: GENESIS_HASH, documents: [genesis], name: 'alice' })
 * @param receipt - As a lookup returned it, or parsed from JSON. The text of the document alone suffices.
 * @throws {QuorumscanError} INVALID_RECEIPT if it does not prove the entry, with `details.reason`; WRONG_GENESIS if the
 *   receipt or a document is of a network that is not pinned; INVALID_ARGUMENT, INVALID_NAME, CRYPTO_UNAVAILABLE.
 */
export async function verifyReceipt(
  receipt: unknown,
  given: VerifyReceiptOptions,
): Promise<VerifiedReceipt> {
  const options = { ...given } // Read once: what is checked is what is used.
  assertOptions('verifyReceipt', options, CHECKS)
  const lookup = lookupOf(options)
  const {
    threshold = 'weak',
    trust: trusted,
    crypto = await platformCrypto(loadNodePort),
  } = options
  const document = typeof receipt === 'string' ? receipt : memberOf(receipt, 'document')
  if (typeof document !== 'string') throw invalidReceipt('MALFORMED', 'it has no document')
  const genesisByHash = await pinnedDocuments(options, crypto)
  const genesisHash = /"genesis_hash":"([0-9a-f]{64})"/.exec(document)?.[1]
  if (genesisHash === undefined) throw invalidReceipt('MALFORMED', 'it names no network')
  const genesis = genesisByHash.get(genesisHash)
  if (genesis === undefined)
    throw wrongGenesis(
      genesisByHash.size === 0
        ? 'No genesis document: pass that of the pinned hash in `documents`.'
        : `The receipt is of the network ${genesisHash}, which is not pinned, or has no document.`,
    )
  const trust = trusted
    ? (await import('./platform/trust.ts')).checkTrust(trusted, memberSetOf(genesis).members)
    : null
  if (thresholdVotes(threshold, memberSetOf(genesis), trust) === undefined)
    throw invalidArgument(
      `\`threshold\` must be weak, strong, all or a number from f+1 to n, not ${shownValue(threshold)}.`,
    )
  const network = { genesis, genesisHash, trust, crypto, sha256: platformSha256() ?? sha256 }
  try {
    const verifier = createCertifiedVerifier(network)
    // `queryOf` would add lists, activities and all other queries to the bundle of a page.
    const proven = await verifier.verify(document, lookupQuery(lookup, network), threshold)
    return {
      entry: proven.answer === null ? null : toEntry(proven.answer),
      offset: proven.offset,
      recordTime: formatInstant(proven.recordTime),
      historyHash: proven.historyHash,
      signers: proven.signers,
      trust,
      genesisHash,
    }
  } catch (error) {
    if (!(error instanceof InvalidProof)) throw error
    const of = subjectOf(receipt)
    const isOther = of !== null && of !== ('name' in lookup ? lookup.name : lookup.party)
    throw invalidReceipt(error.code, isOther ? `it is of ${of}` : error.message, error)
  }
}

/** The documents of the pinned networks by their hashes. */
async function pinnedDocuments(
  { genesis: pins, documents = [] }: VerifyReceiptOptions,
  crypto: CryptoPort,
): Promise<Map<string, Genesis>> {
  const listed = Array.isArray(pins) ? [...(pins as readonly (string | Genesis)[])] : [pins]
  for (const genesisPin of listed) assertGenesisPin(genesisPin)
  if (listed.length === 0) throw invalidArgument('`genesis` must not be empty.')
  if (!Array.isArray(documents)) throw invalidArgument('`documents` must be an array.')
  const pinned = listed.filter((genesisPin) => !isGenesisHash(genesisPin))
  const byHash = new Map<string, Genesis>()
  for (const document of [...pinned, ...documents]) {
    const { genesis, genesisHash } = await checkGenesis(document, crypto)
    if (!listed.includes(genesisHash) && !pinned.includes(document))
      throw wrongGenesis(`A document has the hash ${genesisHash}, which is not pinned.`)
    byHash.set(genesisHash, genesis)
  }
  return byHash
}

function lookupOf({ name, party }: VerifyReceiptOptions): Lookup {
  if (typeof name === 'string' && party === undefined) return { name: parseName(name).name }
  if (typeof party === 'string' && name === undefined) return { party }
  throw invalidArgument('Pass either `name` or `party`, for which the receipt must be.')
}

/** The name or party in the request of a receipt; null: none. */
function subjectOf(receipt: unknown): string | null {
  const { parameters } = membersOf(memberOf(receipt, 'request'))
  const { name, party } = membersOf(parameters)
  const of = name ?? party
  return typeof of === 'string' ? of : null
}

function invalidReceipt(reason: string, why: string, cause?: unknown): QuorumscanError {
  return failure('INVALID_RECEIPT', `The receipt does not prove the entry: ${why}.`, {
    details: { reason },
    cause,
  })
}
