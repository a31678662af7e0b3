/** The form of the vectors of certified reads. */
import type { CanonicalRequest, Json } from '@quorumscan/verifier'

export type Vector = {
  /** Describes what the document proves, or what is invalid. */
  readonly name: string
  readonly request: CanonicalRequest
  /** Members that must have signed the state. */
  readonly signers: number
  /** Offset of the previous page of activities. */
  readonly offset_min?: number
} & ({ readonly document: string } | { readonly document_base64: string }) &
  (
    | { readonly answer: Json; readonly signed_by: readonly string[] }
    /** The rule that the document or the request breaks: a name of `RULES`. */
    | { readonly refuse: Rule }
  )

/** A vector to refuse; by default the document is for a lookup of `alice.unverified.ns`, signed by two members. */
export type Refused = {
  readonly rule: Rule
  readonly name: string
  readonly request?: CanonicalRequest
  readonly signers?: number
  readonly offset_min?: number
} & ({ readonly document: string } | { readonly bytes: Uint8Array })

const REQUEST = [
  /^RangeError: (a page has at least one (entry|row)|no event has such an id|the order is asc or desc)$/,
  /^RangeError: (there is no certified answer |[a-zA-Z]+ has other parameters: |lookups are a list$)/,
  /^RangeError: (a lookup has a name or a party|[a-z_]+ is not a text)$/,
]
const DOCUMENT = /^MALFORMED: the document is (malformed|not UTF-8)$/
const CERTIFICATE = /^MALFORMED: the certificate is malformed$/
const LIST = /^MALFORMED: the proof is malformed: list$/
const LEAF = /^MALFORMED: the proof is malformed: leaf$/
const HIDDEN = /^NOT_PROVEN: the proof is incomplete$/
const NEEDLESS = /^NOT_PROVEN: the proof is not canonical$/
const RUN = /^MALFORMED: the proof is malformed: run$/
const ROW = /^MALFORMED: the proof is malformed: row$/
const ROWS = /^NOT_PROVEN: the rows are of another history, or not all of a run$/
const PAGE = /^NOT_PROVEN: the rows are not those that were asked for$/
const ENTRY = /^NOT_PROVEN: an entry has a key that is not its own$/

/**
 * The rules of docs/certified-reads.md that a request or a document can break, each with the reports of the library's
 * verifier. The verifier compares texts where the page has a rule for each part. Several rules therefore have one
 * report, and the report of another spelling depends on the part of the document that contains it.
 */
export const RULES = {
  'request.parameters': REQUEST,
  'request.page_token': [/^RangeError: the page token was not issued for this list$/],
  'request.signers': [/^RangeError: the threshold is not from f \+ 1 to n$/],
  json: [DOCUMENT, CERTIFICATE, LIST, LEAF, RUN],
  spelling: [DOCUMENT, CERTIFICATE, LIST, LEAF, NEEDLESS, RUN, ROW],
  'document.members': [DOCUMENT, LIST],
  'certificate.form': [CERTIFICATE],
  'certificate.network': [/^OTHER_GENESIS: /],
  'certificate.signer': [/^BAD_SIGNATURE: .* is not a member, signed twice or out of order$/],
  'certificate.signature': [/^BAD_SIGNATURE: the signature of .* does not verify$/],
  'certificate.signers': [/^TOO_FEW_SIGNERS: /],
  'walk.offset': [
    /^NOT_PROVEN: the page is of another offset$/,
    /^NOT_PROVEN: a walk never goes back to an earlier offset$/,
  ],
  'proof.list': [LIST],
  'proof.short': [LEAF, LIST],
  'proof.long': [NEEDLESS, LEAF],
  'proof.item': [LEAF, /^MALFORMED: the proof is malformed: bit$/],
  'proof.bit': [/^MALFORMED: the proof is malformed: bit$/],
  'proof.hash': [/^MALFORMED: the proof is malformed: hash$/],
  'proof.leaf': [LEAF, NEEDLESS, /^MALFORMED: the proof is malformed: hash$/],
  'proof.key': [LEAF, NEEDLESS, /^MALFORMED: the proof is malformed: key$/],
  'proof.expiry': [/^MALFORMED: the proof is malformed: expiry$/],
  'proof.root': [/^NOT_PROVEN: the proof is of another tree$/],
  'proof.hidden': [HIDDEN],
  'proof.needless': [NEEDLESS],
  'value.json': [/^NOT_PROVEN: a value is not JSON$/],
  'value.entry': [ENTRY],
  'value.party': [/^NOT_PROVEN: the entry is that of another party$/],
  'activities.tree': [/^NOT_PROVEN: the state has no activity tree$/],
  'run.form': [RUN, LIST],
  'run.row': [ROW, RUN, /^MALFORMED: the proof is malformed: hash$/],
  'run.rows': [ROWS],
  'run.root': [ROWS],
  'page.size': [PAGE],
  'page.visible': [PAGE],
  'page.asked': [PAGE],
  'page.begin': [PAGE],
  'page.empty': [PAGE],
  'page.row': [/^NOT_PROVEN: a row has the place of another row$/],
} as const satisfies Readonly<Record<string, readonly RegExp[]>>

export type Rule = keyof typeof RULES
