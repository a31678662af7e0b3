/** Receipts, checked offline: in Node, in a browser, years later. Needs the genesis document and its pinned hash. */
import {
  type CryptoPort,
  formatInstant,
  type Genesis,
  type Lookup,
  type Threshold,
  thresholdVotes,
} from '@quorumscan/verifier'
import {
  askLookup,
  createCertifiedVerifier,
  InvalidProof,
  sha256,
} from '@quorumscan/verifier/certified'
import { checkGenesis } from './checked-genesis.ts'
import { failure, invalidArgument, type QuorumscanError } from './errors.ts'
import { assertPin, isGenesisHash, wrongGenesis } from './genesis-pin.ts'
import { type NameEntry, toEntry } from './names/lookups.ts'
import { parseName } from './names/parse-name.ts'
import { platformCrypto } from './platform/platform-crypto.ts'
import { platformSha256 } from './platform/platform-sha256.ts'

export type { CertifiedReceipt } from '@quorumscan/reader/certified'
export type { CryptoPort, Genesis, GenesisNode } from '@quorumscan/verifier'
export type { NameEntry } from './names/lookups.ts'

/** What a receipt proves: this is the entry, at this offset, say these members. */
export type VerifiedReceipt = {
  /** null: it is proven that there was none. */
  readonly entry: NameEntry | null
  readonly offset: number
  /** Record time of that offset. */
  readonly recordTime: string
  readonly historyHash: string
  /** Members that signed the state. */
  readonly signers: readonly string[]
  /** Which of the pinned networks it is of. */
  readonly genesisHash: string
}

/** What `verifyReceipt` checks a receipt against. */
export type VerifyReceiptOptions = {
  /**
   * Whom to believe: the pinned hash of the genesis document (64 hex digits), or the document itself, where it is
   * part of the program. Several, where receipts may be older than the newest genesis.
   */
  readonly genesis: string | Genesis | readonly (string | Genesis)[]
  /**
   * The genesis documents of pinned hashes, from wherever: a seed, a file beside the receipt. Each has to be one of
   * those that are pinned.
   */
  readonly documents?: readonly unknown[]
  /** Whose entry it must be: of this name, as people type it, */
  readonly name?: string
  /** or the entry that stands for this party. */
  readonly party?: string
  /** Members that must have signed. Default `weak`: f+1. */
  readonly threshold?: Threshold
  /** Default: WebCrypto. */
  readonly crypto?: CryptoPort
}

/**
 * Checks a receipt of a lookup, which is a certified document.
 *
 * @param receipt - As a lookup gave it, or as it was read from JSON; the text of the document alone will do.
 * @throws {QuorumscanError} INVALID_RECEIPT if it does not prove whose the name is, with `details.reason`;
 *   WRONG_GENESIS if it is of no pinned network, or a document is; INVALID_ARGUMENT, INVALID_NAME, CRYPTO_UNAVAILABLE.
 */
export async function verifyReceipt(
  receipt: unknown,
  options: VerifyReceiptOptions,
): Promise<VerifiedReceipt> {
  const lookup = lookupOf(Object(options))
  const { threshold = 'weak', crypto = platformCrypto() } = options
  const document = typeof receipt === 'string' ? receipt : Object(receipt).document
  if (typeof document !== 'string') throw invalidReceipt('MALFORMED', 'it holds no document')
  const genesisByHash = await pinnedDocuments(options, crypto)
  const genesisHash = /"genesis_hash":"([0-9a-f]{64})"/.exec(document)?.[1]
  if (genesisHash === undefined) throw invalidReceipt('MALFORMED', 'it is of no network')
  const genesis = genesisByHash.get(genesisHash)
  if (genesis === undefined)
    throw wrongGenesis(
      genesisByHash.size === 0
        ? 'No genesis document was passed in: pass that of the pinned hash in `documents`.'
        : `The receipt is of the network ${genesisHash}, which is not pinned, or whose document is missing.`,
    )
  if (thresholdVotes(threshold, genesis.nodes.length) === undefined)
    throw invalidArgument('The threshold is weak, strong, all or a number from f+1 to n.')
  const network = { genesis, genesisHash, crypto, sha256: platformSha256() ?? sha256 }
  try {
    const verifier = createCertifiedVerifier(network)
    // Not by `questionOf`, with which a page would load pages, activities and all other questions.
    const proven = await verifier.verify(document, askLookup(lookup, network), threshold)
    return {
      entry: proven.answer === null ? null : toEntry(proven.answer),
      offset: proven.offset,
      recordTime: formatInstant(proven.recordTime),
      historyHash: proven.historyHash,
      signers: proven.signers,
      genesisHash,
    }
  } catch (error) {
    if (!(error instanceof InvalidProof)) throw error
    const of = subjectOf(receipt)
    const isOther = of !== null && of !== ('name' in lookup ? lookup.name : lookup.party)
    throw invalidReceipt(error.code, isOther ? `it is of ${of}` : error.message, error)
  }
}

/** The certificate names its network, and is checked against it: what is named is only where to look. */
async function pinnedDocuments(
  { genesis: pins, documents = [] }: VerifyReceiptOptions,
  crypto: CryptoPort,
): Promise<Map<string, Genesis>> {
  const listed = Array.isArray(pins) ? [...(pins as readonly (string | Genesis)[])] : [pins]
  for (const pin of listed) assertPin(pin)
  if (listed.length === 0) throw invalidArgument('`genesis` is empty: nobody is to be believed.')
  if (!Array.isArray(documents)) throw invalidArgument('`documents` are an array.')
  const pinned = listed.filter((pin) => !isGenesisHash(pin))
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
  throw invalidArgument('Either `name` or `party` says what the receipt must be for.')
}

/** The name or party that a receipt says it is of; null: it does not say. */
function subjectOf(receipt: unknown): string | null {
  const { parameters } = Object(Object(receipt).request)
  const { name, party } = Object(parameters)
  const of = name ?? party
  return typeof of === 'string' ? of : null
}

function invalidReceipt(reason: string, why: string, cause?: unknown): QuorumscanError {
  return failure('INVALID_RECEIPT', `The receipt does not prove it: ${why}.`, {
    details: { reason },
    cause,
  })
}
