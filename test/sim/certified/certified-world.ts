/** Nodes of a simulation that also sign states and prove answers. */
import { fromUtf8, toHex, utf8 } from '@quorumscan/base'
import type { TransportRequest } from '@quorumscan/reader'
import {
  createSimStates,
  type SimEntry,
  type SimReply,
  type SimStates as States,
} from '@quorumscan/testkit'
import {
  encodeStateStatement,
  type Lookup,
  memberSetOf,
  thresholdVotes,
} from '@quorumscan/verifier'
import {
  batchQuery,
  encodeCertificate,
  encodeDocument,
  entriesQuery,
  type HashedNetwork,
  nameQuery,
  partyQuery,
  type RangeQuery,
} from '@quorumscan/verifier/certified'
import type { SimCluster, SimMember } from '../sim-cluster.ts'

/** Time until a member has the signature of another one. */
const SIGNATURE_MS = 20
const MINIMUM_WAIT_MS = 1000
const POLL_MS = 10
/** Record time for which states are kept. */
const RETENTION_MICROS = 60_000_000
const BUCKET_MICROS = 200_000
const STATES_SIGNED_MAX = 64

/** A certified request as a node reads it. */
export type ParsedRequest = {
  /** Null: only the newest certificate. */
  readonly stateQuery: RangeQuery<unknown> | null
  readonly signerCount: number
  readonly minOffset: number
}

export type CertifiedWorld = {
  readonly cluster: SimCluster
  readonly network: HashedNetwork
  readonly truth: States
  /** The states that liars invent: without some existing names, and with others owned by Mallory. */
  readonly fiction: States
  /** Certifiable offsets, ascending. */
  readonly certifiable: readonly number[]
  /** Appends one offset to the ledger, and the liars' changes to `fiction`. */
  append(
    changes: { readonly put?: readonly SimEntry[]; readonly remove?: readonly string[] },
    fiction: { readonly put?: readonly SimEntry[]; readonly remove?: readonly string[] },
  ): void
  parse(request: TransportRequest): ParsedRequest | null
  /** The newest stored offset for which the node has enough signatures and `isWanted` is true. */
  certifiedOffset(
    member: SimMember,
    signerCount: number,
    isWanted?: (offset: number) => boolean,
  ): number | undefined
  signersAt(member: SimMember, offset: number): readonly number[]
  certificate(offset: number, signers: readonly number[], states?: States): string
  reply(
    parsed: ParsedRequest,
    certificate: string,
    at: { readonly offset: number; readonly states?: States },
  ): SimReply
  answer(member: SimMember, request: TransportRequest): Promise<SimReply>
}

export function createCertifiedWorld(
  cluster: SimCluster,
  sha256: HashedNetwork['sha256'],
): CertifiedWorld {
  const { clock, genesis, genesisHash, ledger, members } = cluster
  const network = { genesis, genesisHash, sha256 }
  const [truth, fiction] = [createSimStates(), createSimStates()]
  const certifiable: number[] = []
  /** For each member, the time of its signature by offset. */
  const signedAtMs = members.map(() => new Map<number, number>())
  const signatures = new Map<string, string>()

  const bucketOf = (offset: number) => Math.floor(ledger.pointAt(offset).recordTime / BUCKET_MICROS)

  const sign = (index: number, offset: number): void => {
    const { condition } = members[index] as SimMember
    const times = signedAtMs[index] as Map<number, number>
    // A member that is unreachable signs nothing.
    if (condition.kind === 'down' || condition.kind === 'hung' || times.has(offset)) return
    times.set(offset, clock.monotonicMs())
  }

  for (const { node, index } of members) {
    let { head } = node
    Object.defineProperty(node, 'head', {
      get: () => head,
      set(value: number) {
        const passed = certifiable.filter((offset) => offset > head && offset <= value)
        head = value
        for (const offset of passed.slice(-STATES_SIGNED_MAX)) sign(index, offset)
      },
    })
  }

  const appendTo = (
    offset: number,
    changes: Parameters<CertifiedWorld['append']>[0],
    states: States,
  ) => {
    const { put = [], remove = [] } = changes
    const isCertifiable = offset === 0 || bucketOf(offset) !== bucketOf(offset - 1)
    states.append({ offset, put, remove, isCertifiable })
    return isCertifiable
  }
  appendTo(0, {}, fiction)
  if (appendTo(0, {}, truth)) certifiable.push(0)

  const signersAt = ({ index: self }: SimMember, offset: number): readonly number[] => {
    const untilMs = clock.monotonicMs() - SIGNATURE_MS
    const has = (index: number) => {
      const atMs = signedAtMs[index]?.get(offset)
      return atMs !== undefined && (index === self || atMs <= untilMs)
    }
    return members.flatMap(({ index }) => (has(index) ? [index] : []))
  }

  const world: CertifiedWorld = {
    cluster,
    network,
    truth,
    fiction,
    certifiable,
    signersAt,
    append(changes, otherwise) {
      cluster.append(changes)
      const offset = ledger.head()
      appendTo(offset, otherwise, fiction)
      if (appendTo(offset, changes, truth)) certifiable.push(offset)
    },
    parse: (request) => parseRequest(request, network),
    certifiedOffset(member, signerCount, isWanted = () => true) {
      const sinceMicros = clock.nowMicros() - RETENTION_MICROS
      return certifiable.findLast(
        (offset) =>
          offset <= member.node.head &&
          isWanted(offset) &&
          ledger.pointAt(offset).recordTime >= sinceMicros &&
          signersAt(member, offset).length >= signerCount,
      )
    },
    certificate(offset, signers, states = truth) {
      const point = { ...ledger.pointAt(offset), stateRoot: toHex(states.rootAt(offset)) }
      const signatureOf = (index: number): string => {
        const id = `${index} ${offset} ${point.stateRoot}`
        const known = signatures.get(id)
        if (known !== undefined) return known
        const statement = encodeStateStatement({ ...point, genesisHash })
        const signature = toHex((members[index] as SimMember).node.keyPair.sign(statement))
        signatures.set(id, signature)
        return signature
      }
      const all = signers.map((index) => [`sv-${index + 1}`, signatureOf(index)] as const)
      return encodeCertificate({ ...point, genesisHash, signatures: all })
    },
    reply({ stateQuery }, certificate, { offset, states = truth }) {
      if (stateQuery === null) return ok(`{"certificate":${certificate}}`)
      return ok(encodeDocument(certificate, states.prove(stateQuery, ledger.pointAt(offset))))
    },
    async answer(member, request) {
      const parsed = world.parse(request)
      if (parsed === null) return refuse(404, 'ROUTE_NOT_FOUND')
      const { stateQuery, minOffset, signerCount } = parsed
      const pinned = stateQuery?.offset ?? null
      const find = () =>
        world.certifiedOffset(member, signerCount, (offset) =>
          pinned === null ? offset >= minOffset : offset === pinned,
        )
      let offset = find()
      if (pinned !== null && offset === undefined) return refuse(410, 'OFFSET_PRUNED')
      for (let waited = 0; offset === undefined && waited < MINIMUM_WAIT_MS; waited += POLL_MS) {
        await clock.delay(POLL_MS)
        offset = find()
      }
      if (offset === undefined) return refuse(503, 'NO_CERTIFICATE')
      return world.reply(parsed, world.certificate(offset, signersAt(member, offset)), { offset })
    },
  }
  for (const member of members) {
    const { answer } = member.node
    member.node.answer = (request) =>
      request.path === '/v0/scans' ? answer(request) : world.answer(member, request)
  }
  return world
}

function parseRequest(request: TransportRequest, network: HashedNetwork): ParsedRequest | null {
  const url = new URL(request.path, 'http://node')
  const query = url.searchParams
  const body = request.body === null ? null : JSON.parse(fromUtf8(request.body))
  const signers = body?.signers ?? query.get('signers') ?? 'weak'
  const threshold = /^\d+$/.test(signers) ? Number(signers) : signers
  const bounds = {
    signerCount: thresholdVotes(threshold, memberSetOf(network.genesis)) as number, // Readers ask for one.
    minOffset: Number(body?.min_offset ?? query.get('min_offset') ?? 0),
  }
  const stateQuery = queryOf(url, body, network)
  return stateQuery === undefined ? null : { ...bounds, stateQuery }
}

function queryOf(
  { pathname, searchParams }: URL,
  body: { readonly lookups: readonly Lookup[] } | null,
  network: HashedNetwork,
): RangeQuery<unknown> | null | undefined {
  const last = decodeURIComponent(pathname.split('/').at(-1) ?? '')
  if (pathname === '/v0/certificate') return null
  if (pathname === '/v0/ans-entries/batch' && body !== null)
    return batchQuery(body.lookups, network)
  if (pathname.startsWith('/v0/ans-entries/by-name/')) return nameQuery(last)
  if (pathname.startsWith('/v0/ans-entries/by-party/')) return partyQuery(last, network)
  if (pathname !== '/v0/ans-entries') return undefined
  const page = {
    pageSize: Number(searchParams.get('page_size')),
    pageToken: searchParams.get('page_token'),
  }
  return entriesQuery(searchParams.get('name_prefix') ?? '', page, network)
}

export function ok(text: string): SimReply {
  return {
    status: 200,
    headers: { 'content-type': 'application/vnd.quorumscan.certified+json' },
    body: utf8(text),
  }
}

export function refuse(status: number, code: string, retryAfter?: string): SimReply {
  return {
    status,
    headers: {
      'content-type': 'application/json',
      ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
    },
    body: utf8(JSON.stringify({ error: 'refused', code })),
  }
}
