/**
 * Certified documents, judged offline: as a node gave them, kept with the request that they answer, or within
 * what `resolve --json` prints. docs/certified-reads.md has the format. Reads no file, prints nothing.
 */
import { sha256 } from '@quorumscan/base'
import {
  type CanonicalRequest,
  createWebCrypto,
  type Genesis,
  hashGenesis,
} from '@quorumscan/verifier'
import {
  type Certified,
  createCertifiedVerifier,
  InvalidProof,
  type ProvenLeaf,
  questionOf,
  showDocument,
} from '@quorumscan/verifier/certified'

export type ProvenState =
  | {
      readonly kind: 'certified'
      readonly request: CanonicalRequest
      readonly certified: Certified<unknown>
    }
  /** Nobody says what was asked: leaves that are there, whatever else is. */
  | { readonly kind: 'shown'; readonly certified: Certified<readonly ProvenLeaf[]> }

type Options = {
  readonly genesis: Genesis
  readonly request: CanonicalRequest | null
  readonly threshold: number
}

/**
 * What a certified document proves about the request; null: the file is none.
 *
 * @param file - As it was read, and as it was parsed.
 * @throws {InvalidProof} If it does not prove it.
 */
export async function judgeCertified(
  file: { readonly text: string; readonly parsed: unknown },
  options: Options,
): Promise<ProvenState | null> {
  const members = Object(file.parsed)
  if ('certificate' in members) return judge(file.text, options.request, options)
  const isPrinted = typeof Object(members.receipt).document === 'string'
  const kept = isPrinted ? members.receipt : members
  if (typeof kept.document !== 'string') return null
  const request = options.request ?? requestIn(kept.request)
  const proven = await judge(kept.document, request, options)
  if (isPrinted) requireShown(members, proven.certified)
  return proven
}

async function judge(
  document: string,
  request: CanonicalRequest | null,
  { genesis, threshold }: Options,
): Promise<ProvenState> {
  const genesisHash = await hashGenesis(genesis)
  const network = { genesis, genesisHash, sha256, crypto: createWebCrypto() }
  if (request === null)
    return { kind: 'shown', certified: await showDocument(document, threshold, network) }
  const verifier = createCertifiedVerifier(network)
  const certified = await verifier.verify(document, asked(request, network), threshold)
  return { kind: 'certified', request, certified }
}

function asked(...[request, network]: Parameters<typeof questionOf>) {
  try {
    return questionOf(request, network)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new InvalidProof('NOT_PROVEN', cause.message, { cause })
  }
}

function requestIn(value: unknown): CanonicalRequest {
  const { operation, parameters } = Object(value)
  if (typeof operation === 'string' && typeof parameters === 'object' && parameters !== null)
    return { operation, parameters }
  throw new InvalidProof('MALFORMED', 'it is kept with no request')
}

/** What stands beside a proof proves nothing, but nobody should be shown something else. */
function requireShown(
  members: Readonly<Record<string, unknown>>,
  proven: Certified<unknown>,
): void {
  const { answer, offset, recordTime, historyHash, signers } = proven
  const isAbsent = String(members['kind']).endsWith('-absent')
  const shown = Object.entries({ answer, offset, recordTime, historyHash, agreed: signers })
  const other = shown.find(
    ([name, value]) => JSON.stringify(members[name]) !== JSON.stringify(value),
  )
  if (other === undefined && isAbsent === (answer === null)) return
  throw new InvalidProof('NOT_PROVEN', `the ${other?.[0] ?? 'kind'} shown is not the one proven`)
}
