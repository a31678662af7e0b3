import type { Attack, Target } from './attack.ts'
import { spentOn } from './process.ts'
import { exchange, post } from './wire.ts'

/**
 * Limit of the CPU time relative to a refused body of a megabyte, which costs 3 to 5 ms. Today no request costs twice
 * that. A batch of a million items without a limit on their number would cost 40 to 80 times that.
 */
const COST_MAX = 20
const YARDSTICK = 'a name of a megabyte'
const YARDSTICK_ROUNDS = 20
const MIB = 1024 * 1024
/** Share of the requests that must be answered, so that a server that closes connections unanswered does not pass. */
const ANSWERED_SHARE_MIN = 0.9

type Request = {
  readonly url: string
  readonly parts: readonly string[]
  /** Number of requests in the parts. Default: one. */
  readonly count?: number
  /** Required status. Default: any below 500. */
  readonly status?: number
}

const json = (url: string, path: string, body: string): Request => ({
  url,
  parts: [post(path, 'content-type: application/json', `content-length: ${body.length}`), body],
})
const get = (url: string, pathAndHeaders: string): Request => ({
  url,
  parts: [`GET ${pathAndHeaders}\r\nhost: a\r\nconnection: close\r\n\r\n`],
})
const filled = (bytes: number, text: string) =>
  text.repeat(Math.floor(bytes / text.length)).slice(0, -1)

/** Names that collide in V8's hash of integers, because they do not differ in the bits that it uses. */
const collidingNames = (count: number) =>
  Array.from({ length: count }, (_, index) => `"${index * 65_536}":0`).join()

function requests({ cluster }: Target): Readonly<Record<string, Request>> {
  const { validator, synchronizer, nodes } = cluster.urls
  const node = nodes['sv-1'] ?? ''
  const batch = '/v0/ans-entries/batch'
  const ledger = '/v2/commands/async/submit'
  const page = '/v0/ans-entries?page_size=1000&page_token='
  return {
    'a batch of a million wrong items': json(
      node,
      batch,
      `{"lookups":[${filled(MIB - 20, '0,')}]}`,
    ),
    'a batch of as many wrong items as are read': json(
      node,
      batch,
      `{"lookups":[${filled(8_000, '0,')}]}`,
    ),
    'a batch 500 000 levels deep': json(node, batch, '['.repeat(500_000)),
    'a megabyte of empty lists': json(node, batch, `[${filled(MIB - 8, '[],')}]`),
    'a megabyte of backslashes': json(node, batch, `"${'\\\\'.repeat(MIB / 2 - 2)}"`),
    'members with colliding names': json(node, batch, `{${collidingNames(60_000)}}`),
    'a member doubled': { ...json(node, batch, '{"lookups":[],"lookups":[]}'), status: 400 },
    'a lookup by name and party': {
      ...json(node, batch, '{"lookups":[{"name":"dso.ns","party":"dso"}]}'),
      status: 400,
    },
    'a member named a megabyte': json(node, batch, `{"${'k'.repeat(MIB - 16)}":0}`),
    'a name of a megabyte': json(node, batch, `{"lookups":[{"name":"${'a'.repeat(MIB - 64)}"}]}`),
    // The server refuses these before it reads the body.
    '8 MB of empty lists, without a token': {
      ...json(validator, ledger, `{"commands":[${filled(8 * MIB - 32, '[],')}]}`),
      status: 401,
    },
    '8 MB of one text, without a token': {
      ...json(validator, ledger, `"${'x'.repeat(8 * MIB - 8)}"`),
      status: 401,
    },
    'a query of 5 000 pairs': get(node, `/v0/ans-entries?${filled(15_000, 'x&a=')} HTTP/1.1`),
    'one parameter 5 000 times': get(node, `/v0/ans-entries?${filled(15_000, 'a=&')} HTTP/1.1`),
    '1 900 headers': get(node, `/livez HTTP/1.1${'\r\na:b'.repeat(1_900)}`),
    'a header above the limit': get(node, `/livez HTTP/1.1\r\na: ${'b'.repeat(100_000)}`),
    'a path of 15 000 segments': get(node, `${'/a'.repeat(7_500)} HTTP/1.1`),
    'a path that is percent-encoded': get(
      node,
      `/v0/ans-entries/by-name/${'%41'.repeat(5_000)} HTTP/1.1`,
    ),
    'an invalid page token': get(node, `${page}${'A'.repeat(12_000)} HTTP/1.1`),
    'a page token of binary': get(node, `${page}${'_-'.repeat(300)} HTTP/1.1`),
    'a body that says it is compressed': {
      url: node,
      parts: [post(batch, 'content-encoding: gzip', 'content-length: 4'), '\x1f\x8b\x08\x00'],
    },
    '2 000 requests ahead of their answers': {
      url: node,
      parts: ['GET /v0/ans-entries/by-name/a HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(2_000)],
      count: 2_000,
    },
    'a submission of zeros': {
      url: synchronizer,
      parts: [post('/v0/submit', `content-length: ${MIB / 4}`), '\0'.repeat(MIB / 4)],
    },
  }
}

/** Requests that are cheap for the sender, and as expensive for the server as schemas and parsers allow. */
export const expensiveRequests: Attack = {
  name: 'expensive-requests',
  claim:
    'Any client may send whatever fits into a request: wide and deep JSON, colliding names, floods of ' +
    'parameters, headers and requests, forged page tokens, bodies labelled as compressed, megabytes ' +
    'without a token. Each costs at most 20 times the CPU of a plain megabyte, and none gets a 5xx.',
  async run(target) {
    const rounds = 50
    const figures: Record<string, number | string> = {}
    let holds = true
    let [sentCount, answeredCount] = [0, 0]
    const sent = requests(target)
    const maxMs = COST_MAX * (await costOf(sent[YARDSTICK]))
    figures['most that one may cost, ms of CPU'] = Math.round(maxMs)
    for (const [name, { url, parts, count = 1, status: wanted }] of Object.entries(sent)) {
      const statuses = new Set<number | null>()
      const send = async (times: number) => {
        for (let round = 0; round < times; round++) {
          const { status } = await exchange(url, ...parts)
          statuses.add(status)
          sentCount++
          if (status !== null) answeredCount++
        }
      }
      await send(2) // Warm-up: code is compiled.
      const { cpuMs } = await spentOn(url, () => send(rounds))
      const each = Math.round((10 * cpuMs) / (rounds * count)) / 10
      const isAnsweredWell = [...statuses].every((status) =>
        wanted === undefined ? status === null || status < 500 : status === wanted,
      )
      if (each > maxMs || !isAnsweredWell) holds = false
      figures[name] = `${each} ms of CPU, ${[...statuses].join()}`
    }
    const answeredShare = answeredCount / sentCount
    holds &&= answeredShare >= ANSWERED_SHARE_MIN
    figures[`share answered (at least ${ANSWERED_SHARE_MIN})`] = answeredShare.toFixed(2)
    return { holds, figures }
  },
}

/** The CPU that one such request costs, ms. */
async function costOf(request: Request | undefined): Promise<number> {
  if (request === undefined) throw new Error(`no request is named ${YARDSTICK}`)
  const { url, parts } = request
  const send = async (times: number) => {
    for (let round = 0; round < times; round++) await exchange(url, ...parts)
  }
  await send(2) // Code is compiled once.
  const { cpuMs } = await spentOn(url, () => send(YARDSTICK_ROUNDS))
  return cpuMs / YARDSTICK_ROUNDS
}
