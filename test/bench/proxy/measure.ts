/** Verified lookups through the scan proxy, beside what anybody could do without verifying. */
import { median, print, printRow, type Row, round } from '../report.ts'
import { type Clients, measureClients } from './clients.ts'
import { CONNECTIONS, type Fault, measureRound, type Pair, type Round } from './round.ts'

export type ProxyOptions = {
  readonly rounds: number
  readonly clientRounds: number
  readonly ms: number
}

export async function measureProxy({ rounds, clientRounds, ms }: ProxyOptions): Promise<void> {
  const all: Round[] = []
  const clients: Clients[] = []
  // Fresh processes in every round: one can be slow for its whole life.
  for (let each = 0; each < rounds; each++) all.push(await measureRound(ms))
  for (let each = 0; each < clientRounds; each++) clients.push(await measureClients(ms))
  printRounds(all)
  printClients(clients)
}

function printRounds(all: readonly Round[]): void {
  const rate = (side: 'direct' | 'plain' | 'verified') =>
    round(median(all.map((one) => one[side].perSecond)))
  print(
    `lookups/s, ${CONNECTIONS} connections: direct ${rate('direct')}, plain reverse proxy ${rate('plain')}, verified ${rate('verified')}`,
  )
  const row = rowsOf(all)
  row('verified lookups/s ÷ plain reverse proxy', (r) => r.verified.perSecond / r.plain.perSecond, {
    kind: 'at least',
    value: 1.2,
  })
  row('verified lookups/s ÷ direct', (r) => r.verified.perSecond / r.direct.perSecond, {
    kind: 'at least',
    value: 0.5,
  })
  row('plain reverse proxy ÷ direct', (r) => r.plain.perSecond / r.direct.perSecond, null)
  row(
    'one caller alone: p50 verified ÷ plain reverse proxy',
    (r) => r.alone.verified.p50Ms / r.alone.plain.p50Ms,
    { kind: 'at most', value: 1.5 },
  )
  const faults: readonly (readonly [Fault, string])[] = [
    ['killed', 'killed'],
    ['hung', 'hung'],
    ['slow', 'slow by 300 ms'],
    ['lying', 'lying'],
  ]
  for (const [fault, title] of faults)
    printPair(row, `with one node ${title} ÷ healthy`, (r) => r.faults[fault])
  row('pages of 1000 a second from a node meanwhile', (r) => r.pageRates.node, null)
  row('lookup p99 of a node beside 100 pages of 1000/s ÷ alone', (r) => p99(r.besidePages.node), {
    kind: 'at most',
    value: 2,
  })
  row('pages of 1000 a second through the proxy meanwhile', (r) => r.pageRates.proxy, null)
  row('verified lookup p99 beside 100 pages of 1000/s ÷ alone', (r) => p99(r.besidePages.proxy), {
    kind: 'at most',
    value: 2,
  })
  row('last confirmation to verified lookup, idle, ms', (r) => median(r.visibleMs), {
    kind: 'at most',
    value: 150,
  })
}

function printClients(clients: readonly Clients[]): void {
  if (clients.length === 0) return
  const row = rowsOf(clients)
  const atLeast = (value: number) => ({ kind: 'at least', value }) as const
  row('verified lookups/s with n = 13 ÷ n = 4', (c) => c.many / c.few, atLeast(0.35))
  row('reads/s of a client ÷ ethers FallbackProvider', (c) => c.reader / c.ethers, atLeast(8))
  row('reads/s of a client ÷ a quorum over fetch', (c) => c.reader / c.fetch, atLeast(20))
  row('the same, one node hung ÷ ethers', (c) => c.hung.reader / c.hung.ethers, atLeast(100))
  row('the same, one node dead ÷ ethers', (c) => c.dead.reader / c.dead.ethers, atLeast(100))
}

type RowOf<Sample> = (what: string, of: (sample: Sample) => number, budget: Row['budget']) => void

/** Prints the median of a ratio. */
function rowsOf<Sample>(samples: readonly Sample[]): RowOf<Sample> {
  return (what, of, budget) => printRow({ what, value: median(samples.map(of)), budget })
}

function printPair(row: RowOf<Round>, what: string, of: (sample: Round) => Pair): void {
  const p50 = ({ before, during }: Pair) => during.p50Ms / before.p50Ms
  row(`p50 ${what}`, (r) => p50(of(r)), { kind: 'at most', value: 1.5 })
  row(`p99 ${what}`, (r) => p99(of(r)), { kind: 'at most', value: 2 })
}

function p99({ before, during }: Pair): number {
  return during.p99Ms / before.p99Ms
}
