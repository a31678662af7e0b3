/** An honest scan node as the reader sees it: lookups, pages and addresses at one offset (D-8 to D-16). */
import { fromUtf8, type KeyPair, sha256, toHex, utf8, verifySignature } from '@quorumscan/base'
import type { AddressRecord, TransportRequest } from '@quorumscan/reader'
import {
  type CryptoPort,
  encodeAddressStatement,
  formatInstant,
  type HistoryPoint,
  type Lookup,
} from '@quorumscan/verifier'
import type { SimClock } from './sim-clock.ts'
import { entryToWire, type SimLedger, simAnswer } from './sim-ledger.ts'
import type { SimReply } from './sim-network.ts'

/** How long a node waits for an offset (D-10). */
const OFFSET_WAIT_MS = 250
const OFFSET_POLL_MS = 10

export type SimNode = {
  readonly name: string
  readonly keyPair: KeyPair
  ledger: SimLedger
  /** The offset that it has applied. */
  head: number
  /** The lowest offset that it can read. */
  horizon: number
  /** The records of `/v0/scans`. All nodes share them, because they are on the ledger. */
  records: readonly AddressRecord[]
  answer(request: TransportRequest): Promise<SimReply>
}

type ParsedRequest = {
  readonly atOffset: number | null
  readonly answerAt: (offset: number) => string
}

export function createSimNode(options: {
  readonly name: string
  readonly keyPair: KeyPair
  readonly ledger: SimLedger
  readonly clock: SimClock
}): SimNode {
  const { clock, keyPair } = options
  const node: SimNode = {
    name: options.name,
    keyPair,
    ledger: options.ledger,
    head: 0,
    horizon: 0,
    records: [],
    async answer(request) {
      if (request.path === '/v0/scans') return ok(scansBody(node.records), headHeaders(node))
      const parsed = parseRequest(request, node)
      if (parsed === null) return refuse(404, 'ROUTE_NOT_FOUND', node)
      const offset = parsed.atOffset ?? node.head
      for (let waited = 0; node.head < offset && waited < OFFSET_WAIT_MS; waited += OFFSET_POLL_MS)
        await clock.delay(OFFSET_POLL_MS)
      if (node.head < offset) return refuse(503, 'OFFSET_NOT_REACHED', node)
      if (offset < node.horizon) return refuse(410, 'OFFSET_PRUNED', node)
      const headers = { ...headHeaders(node), ...pointHeaders(node.ledger.pointAt(offset)) }
      return ok(parsed.answerAt(offset), headers)
    },
  }
  return node
}

/** A record that a node signs about itself (D-34). */
export function signAddress(
  keyPair: KeyPair,
  statement: { genesisHash: string; name: string; url: string; sequence: number },
): AddressRecord {
  const { name, url, sequence } = statement
  return { name, url, sequence, signature: toHex(keyPair.sign(encodeAddressStatement(statement))) }
}

/** The crypto port on Node's synchronous functions, so that no real time passes. */
export const simCrypto: CryptoPort = {
  sha256: async (bytes) => new Uint8Array(sha256(bytes)),
  verifyEd25519: async ({ publicKey, signature, message }) =>
    verifySignature({ publicKey: toHex(publicKey), signature, message }),
}

export function scansBody(records: readonly AddressRecord[]): string {
  const scans = records.map(({ name, url, sequence, signature }) => ({
    publicUrl: url,
    svName: name,
    sequence,
    signature,
  }))
  return JSON.stringify({ scans: [{ domainId: 'sim::1220', scans }] })
}

function parseRequest(request: TransportRequest, node: SimNode): ParsedRequest | null {
  if (request.path === '/v0/ans-entries/batch') {
    const body = JSON.parse(fromUtf8(request.body ?? new Uint8Array())) as {
      lookups: Lookup[]
      at_offset?: number
    }
    return {
      atOffset: body.at_offset ?? null,
      answerAt: (offset) => {
        const answers = body.lookups.map((lookup) => simAnswer(node.ledger.find(lookup, offset)))
        return `{"results":[${answers.join(',')}]}`
      },
    }
  }
  const url = new URL(request.path, 'http://node')
  if (url.pathname !== '/v0/ans-entries') return null
  const prefix = url.searchParams.get('name_prefix') ?? ''
  const pageSize = Number(url.searchParams.get('page_size'))
  const token = url.searchParams.get('page_token')
  const [tokenOffset, after] = token === null ? [null, ''] : (token.split('~') as [string, string])
  const header = request.headers['x-read-at-offset']
  return {
    atOffset:
      tokenOffset !== null ? Number(tokenOffset) : header === undefined ? null : Number(header),
    answerAt: (offset) => {
      const rest = node.ledger.list(prefix, offset).filter((entry) => entry.name > after)
      const page = rest.slice(0, pageSize)
      const next = rest.length > pageSize ? `${offset}~${page.at(-1)?.name}` : null
      return JSON.stringify({ entries: page.map(entryToWire), next_page_token: next })
    },
  }
}

function ok(body: string, headers: Record<string, string>): SimReply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: utf8(body),
  }
}

function refuse(status: number, code: string, node: SimNode): SimReply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headHeaders(node) },
    body: utf8(JSON.stringify({ error: 'refused', code })),
  }
}

function headHeaders(node: SimNode): Record<string, string> {
  const { recordTime } = node.ledger.pointAt(node.head)
  return { 'x-ledger-head': String(node.head), 'x-ledger-head-time': formatInstant(recordTime) }
}

export function pointHeaders(point: HistoryPoint): Record<string, string> {
  return {
    'x-ledger-offset': String(point.offset),
    'x-ledger-record-time': formatInstant(point.recordTime),
    'x-ledger-history-hash': point.historyHash,
  }
}
