/**
 * Every error that a client can see: one row for each code. Everything about a code is in its row.
 * Codes are permanent. The `/v2` surface has its own shapes and maps its codes itself.
 */

export type ErrorSpec = {
  readonly httpStatus: number
  /** True: the request had no effect and will have none. In doubt, false. */
  readonly definite: boolean
  /** True: the same request may succeed later. */
  readonly retryable: boolean
  /** One sentence for `sdk/ERRORS.md`. */
  readonly doc: string
}

/** The request had no effect, and a repeat will have none. */
const final =
  (httpStatus: number) =>
  (doc: string): ErrorSpec => ({ httpStatus, definite: true, retryable: false, doc })
const invalid = final(400)
const notFound = final(404)
const conflict = final(409)

/** The request had no effect. A repeat may succeed later. */
const transient =
  (httpStatus: number) =>
  (doc: string): ErrorSpec => ({ httpStatus, definite: true, retryable: true, doc })
const unavailable = transient(503)
const badGateway = transient(502)

/** The request may have had an effect. A repeat may succeed later. */
const uncertain =
  (httpStatus: number) =>
  (doc: string): ErrorSpec => ({ httpStatus, definite: false, retryable: true, doc })

export const catalogue = {
  INVALID_ARGUMENT: invalid(
    'A member of the request is missing, has the wrong type or is out of range; `details` names it.',
  ),
  MALFORMED_BODY: invalid('The body is not the JSON object that the operation takes.'),
  MALFORMED_REQUEST: invalid(
    'The bytes are no HTTP request, or the URL is not percent-encoded UTF-8.',
  ),
  INVALID_PARTY: invalid('A party identifier is not `<hint>::1220<64 hex digits>`.'),
  NAME_SUFFIX_MISSING: invalid('A name to register must end in `.unverified.ns`.'),
  INVALID_NAME: invalid(
    'The name is invalid: it has 1 to 46 characters of `a-z0-9_-` and the suffix; `details.rule` names the violated rule.',
  ),
  INVALID_URL: invalid(
    'The url of an entry is neither empty nor `http(s)://…` of at most 255 printable ASCII characters.',
  ),
  INVALID_DESCRIPTION: invalid(
    'The description of an entry has more than 140 UTF-16 units, or control or bidi-override characters.',
  ),
  INVALID_PAGE_TOKEN: invalid('A page token was not issued by this service for this request.'),
  INVALID_QUORUM: invalid('The threshold must be weak, strong, all or a number from f+1 to n.'),
  INSUFFICIENT_FUNDS: invalid(
    'The party has less unlocked coin than the operation needs; `details` has the amounts.',
  ),
  DEVNET_ONLY: invalid('The operation exists only in networks with `devnet: true` in the genesis.'),
  OPEN_REQUEST_LIMIT: conflict(
    'The party has as many open requests for names as the genesis allows; one must be answered first.',
  ),
  LIMIT_EXCEEDED: conflict(
    'A limit per party is reached: payments in flight, or open offers; `details` names it.',
  ),
  UNAUTHENTICATED: final(401)(
    'The token is missing, malformed, expired or not for this service; a validator says which in `details.reason`.',
  ),
  PERMISSION_DENIED: final(403)('The user of the token may not do this.'),
  ENTRY_NOT_FOUND: notFound('No live entry has this name, or belongs to this party.'),
  CONTRACT_NOT_FOUND: notFound(
    'No active contract has this id, or it is not visible to the caller.',
  ),
  INSTRUMENT_NOT_FOUND: notFound('The registry of tokens has no instrument with this id.'),
  SNAPSHOT_NOT_FOUND: notFound(
    'The node has no snapshot of the state at this offset, or it has no such piece.',
  ),
  WALLET_NOT_FOUND: notFound('The user of the token is not registered.'),
  ROUTE_NOT_FOUND: notFound('No operation has this path.'),
  METHOD_NOT_ALLOWED: final(405)('The path exists, with another method.'),
  METHOD_NOT_IMPLEMENTED: final(501)('No operation of any server has this method.'),
  NAME_TAKEN: conflict('A live entry has this name.'),
  USER_EXISTS: conflict('A user with this id exists, with another party.'),
  CONTRACT_CONSUMED: conflict('The contract was used by another transaction first.'),
  CHOICE_REFUSED: conflict(
    'The ledger refused: the state does not allow this step; the message has the reason.',
  ),
  DUPLICATE_COMMAND: conflict(
    'The same was done before. Of a payment `details` has its update id, offset, record time and result.',
  ),
  PAYMENT_DIFFERS: conflict(
    'Another payment was made with the same tracking id or command id; nothing was done now. `details` has its update id, offset and record time.',
  ),
  PAYMENT_RECORDS_INCOMPLETE: conflict(
    'The validator lost records of payments, and this one may have been made before. Look at the transactions of the party; a new payment needs a new tracking id and an expiry after `details.expires_after`.',
  ),
  OFFSET_PRUNED: final(410)('The offset lies below the history horizon of the node.'),
  BODY_TOO_LARGE: final(413)('The body exceeds the limit of the operation.'),
  UNSUPPORTED_MEDIA_TYPE: final(415)(
    'The operation does not accept the content type or encoding of the body.',
  ),
  HEADERS_TOO_LARGE: final(431)('The URL and the headers together exceed the limit.'),
  REQUEST_TIMEOUT: transient(408)('The request did not arrive completely in time.'),
  RATE_LIMITED: transient(429)(
    'The caller exceeded its rate limit; `retry-after` has the time to wait.',
  ),
  CONSENSUS_DISPUTED: badGateway(
    'The scan nodes gave different answers at one offset, and no group can reach the threshold.',
  ),
  NOT_ENOUGH_NODES: badGateway('Fewer scan nodes can be reached than the threshold needs.'),
  CONSENSUS_LAGGING: unavailable(
    'The scan nodes have not reached the offset, or their newest record time is older than requested.',
  ),
  OFFSET_NOT_REACHED: unavailable('The node has not applied this offset yet.'),
  NO_CERTIFICATE: unavailable(
    'The node has no certificate with the requested number of signatures at the offset.',
  ),
  LOG_FORK: final(503)(
    'Enough other members signed another history than the one that the node applied. It answers without proofs; its operator must act.',
  ),
  OVERLOADED: unavailable('The process has reached a limit of work in progress.'),
  NOT_READY: unavailable(
    'The process is starting, catching up or stopping; `details` has its state.',
  ),
  LOG_FULL: unavailable(
    'The log is full, on disk or in memory: writes that add are refused until it has space; reads, archivals and renewals continue.',
  ),
  CLOCK_OFF: uncertain(503)(
    'The clock of the process, or of the log, differs from those of the nodes: writes are refused until they agree, without a restart.',
  ),
  CERTIFICATE_EXPIRED: final(503)(
    'A certificate that the process uses has expired, or is not valid yet, so that some connections fail. Its operator must replace the certificate; the process needs no restart.',
  ),
  ORDERING_HALTED: final(503)(
    'The other members order the log, and this one cannot follow them; its operator must act.',
  ),
  LOG_REGRESSED: final(503)(
    'The log is shorter than, or different from, the one that the replica applied; its operator must act.',
  ),
  SOFTWARE_OUTDATED: final(503)(
    'The super-validators voted for a version of the protocol that this software does not know; its operator must install a newer one.',
  ),
  STATE_DIVERGED: final(503)(
    'The stored state of the node differs from the log: it answers no lookups until it is wiped.',
  ),
  USERS_LOST: final(503)(
    'The validator lost its users and their rights, which are not in the log; its operator must restore them, or accept the loss.',
  ),
  SUBMISSION_UNKNOWN: uncertain(504)(
    'The outcome was not seen in time: the command may or may not take effect. Repeat it only with the same command id.',
  ),
  SUBMISSION_EXPIRED: unavailable(
    'The submission did not enter the log before its `notAfter`: it has no effect and will have none.',
  ),
  DEPENDENCY_UNAVAILABLE: uncertain(503)('Redis or the synchronizer cannot be reached.'),
  INTERNAL: {
    httpStatus: 500,
    definite: false,
    retryable: false,
    doc: 'A defect; the process logs the reason under the request id.',
  },
} as const satisfies Record<string, ErrorSpec>

export type ErrorCode = keyof typeof catalogue
