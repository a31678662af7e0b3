/** The texts of the command line, at most 80 columns wide. Whether something works is decided in `view/`. */
import { COLUMNS, commandHint, wrap } from '@quorumscan/cli'
import { isAnswer, stateLabel } from '@quorumscan/errors/node-words'
import type { Fault } from '../faults/fault-spec.ts'
import type { AtNodes } from '../judge/watch/prober.ts'
import type { Exchange } from '../rig/registration.ts'
import { type ClusterStatus, type LiveStatus, servicesOf } from '../rig/status.ts'
import { marginsOf } from '../view/service-margins.ts'
import { missedBlockVotes, shorten } from '../view/words.ts'

/** Quorum headers of a proxied answer (D-40), in reading order. */
const QUORUM_HEADERS = ['outcome', 'threshold', 'asked', 'agreed', 'dissented', 'nodes', 'offset']
const STATUS_WIDTHS = [14, 13, 9, 9, 10]
const MEASURED_WIDTHS = [14, 13, 18]
const FAULT_WIDTHS = [11, 14, 30]

type Cell = string | number | null

/** Rows as lines. A cell that is wider than its column is followed by the next cell at once. */
function inColumns(widths: readonly number[], rows: readonly (readonly Cell[])[]): string[] {
  const cellOf = (cell: Cell, index: number) => String(cell ?? '-').padEnd(widths[index] ?? 0)
  return rows.map((cells) => cells.map(cellOf).join('').trimEnd())
}

/** Whether all services are up, and otherwise which are not, or what they report. */
export function formatUp(status: LiveStatus): string {
  const services = servicesOf(status)
  const lacking = services.filter(({ state, detail }) => state !== 'up' || detail !== null)
  if (lacking.length === 0) return 'quorumscan is up.'
  const reports = lacking.flatMap(({ name, state, detail }) =>
    wrap(`${name} is ${stateLabel[state]}${detail === null ? '' : `: ${detail}`}`),
  )
  return [headlineOf(status), ...reports].join('\n')
}

function headlineOf(status: LiveStatus): string {
  if (servicesOf(status).every(({ state }) => state === 'up')) return 'quorumscan is up, but:'
  return marginsOf(status).lookups.works
    ? 'quorumscan runs, but some processes are not up:'
    : 'quorumscan runs, but lookups fail:'
}

/** The output of `up` when the cluster is ready: the addresses, and commands to try. */
export function formatSummary(status: ClusterStatus, controlUrl: string): string {
  const services = [
    ...status.nodes.map((node) => [node.name, node.url]),
    ['validator', status.validator.url],
    ['synchronizer', status.synchronizer.url],
    ['control plane', controlUrl],
    ...(status.console === null ? [] : [['console', status.console.url]]),
    ['data', status.dataDir],
  ]
  return [
    ...services.map(([label = '', value]) => `  ${label.padEnd(14)} ${value}`),
    '',
    ...describeSize(status.cluster),
    '',
    'Try:',
    ...tryLines({
      demo: 'register a name, step by step',
      ...(status.cluster.f === 0
        ? { 'token alice': 'a token for a user of the validator' }
        : { 'kill sv-2': 'lookups still work' }),
      status: 'processes and tolerated failures',
    }),
    '',
    '`npx --no -- quorumscan --help` shows all commands.',
  ].join('\n')
}

/** Commands with their effects: on one line, or on two where that is too long. */
function tryLines(tries: Readonly<Record<string, string>>): string[] {
  const typed = Object.entries(tries).map(
    ([command, does]) => [`  npx --no -- ${commandHint(command)}`, does] as const,
  )
  const width = Math.max(...typed.map(([command]) => command.length)) + 2
  const isWide = typed.some(([, does]) => width + does.length > COLUMNS)
  return typed.flatMap(([command, does]) =>
    isWide ? [command, `      ${does}`] : [command.padEnd(width) + does],
  )
}

/** The table of `status`, and the failures that are tolerated. */
export function formatStatus(status: LiveStatus): string {
  // Members have a table of their own.
  const services = servicesOf({ ...status, members: [] })
  const rows = services.map(({ name, state, pid, redisPid, offset, url }) => {
    return [name, stateLabel[state], pid, redisPid, offset, url]
  })
  const details = servicesOf(status).flatMap(({ name, detail }) =>
    detail === null ? [] : wrap(`${name}: ${detail}`),
  )
  const head = ['', 'state', 'pid', 'redis', 'offset', 'url']
  return [
    ...inColumns(STATUS_WIDTHS, [head, ...rows]),
    ...orderingLines(status),
    ...measuredLines(status),
    '',
    ...details,
    ...describeMargin(status).flatMap(wrap),
    ...describeSize(status.cluster),
    `genesis ${status.cluster.genesisHash}`,
  ].join('\n')
}

/** The engines of the members; nothing where one synchronizer orders. */
function orderingLines(status: ClusterStatus): string[] {
  const { members, cluster } = status
  if (members.length === 0) return []
  const missed = missedBlockVotes(status)
  const rows = members.map(({ name, state, ordering: report }) => {
    const engines = report === null ? null : `${report.connected.length} of ${cluster.n - 1}`
    const words = [name, stateLabel[state], report?.height ?? null, report?.round ?? null, engines]
    return [...words, missed.includes(name) ? 'block vote missing' : '']
  })
  const head = ['ordering', 'state', 'block', 'round', 'engines', '']
  return ['', ...inColumns(STATUS_WIDTHS, [head, ...rows])]
}

/** Latencies, agreement, and the faults in force. */
function measuredLines({ nodes, faults }: LiveStatus): string[] {
  const number = (value: number | null, unit: string) =>
    value === null ? '-' : `${Math.round(value)}${unit}`
  const rows = nodes
    .filter(({ p50Ms }) => p50Ms !== null)
    .map(({ name, lag, agreement, p50Ms, p99Ms }) => {
      const latency = `p50 ${number(p50Ms, ' ms')}, p99 ${number(p99Ms, ' ms')}`
      return [name, `lag ${number(lag, '')}`, `agrees ${number(agreement, ' %')}`, latency]
    })
  const errors = nodes
    .filter(({ lastError }) => lastError !== null)
    .map(({ name, lastError }) => shorten(`${name.padEnd(14)}last error ${lastError}`, COLUMNS))
  const measured = rows.length === 0 ? [] : ['', ...inColumns(MEASURED_WIDTHS, rows), ...errors]
  return [...measured, ...(faults.length === 0 ? [] : ['', formatFaults(faults)])]
}

/** Lookups, registrations and ordering, a line each, and the latest outcome of a reader of the nodes. */
export function describeMargin(status: LiveStatus): readonly string[] {
  const lines = Object.entries(marginsOf(status)).map(
    ([name, { detail, verdict }]) => `${name.padEnd(15)}${verdict} (${detail})`,
  )
  const { atNodes } = status
  if (atNodes !== null) lines.splice(1, 0, `${' '.repeat(15)}${describeRead(atNodes)}`)
  return lines
}

function describeRead({ kind, needed, signers, asked, latencyMs }: AtNodes): string {
  const why = asked.map(({ node, reason }) => `${node}: ${reason}`).join(', ')
  const more = isAnswer(kind)
    ? `, ${signers.length} signed, ${needed} needed, ${Math.round(latencyMs)} ms`
    : why && ` (${why})`
  return `a reader of the nodes: ${kind}${more}`
}

/** Size and thresholds. */
function describeSize(cluster: ClusterStatus['cluster']): string[] {
  const { n, f, readThreshold, confirmThreshold } = cluster
  return [
    `n = ${n}, f = ${f}: an answer needs ${readThreshold}, an operator action ${confirmThreshold}`,
    ...(f === 0 ? ['Below 4 nodes no fault is tolerated.'] : []),
  ]
}

/** One step of the demo: the request and the answer, in short. */
export function formatExchange(exchange: Exchange): string {
  const { method, path, requestBody, status, headers, body } = exchange
  const sent = requestBody === null ? '' : ` ${JSON.stringify(requestBody)}`
  const quorum = QUORUM_HEADERS.flatMap((name) => {
    const value = headers.get(`x-quorum-${name}`)
    return value ? `     x-quorum-${name}: ${value}` : []
  })
  const request = shorten(`${method} ${path}${sent}`, COLUMNS - 5)
  return [`  -> ${request}`, `  <- ${status}`, ...quorum, ...fieldLines(body)].join('\n')
}

/** The leaves of a JSON answer, a line each. */
function fieldLines(body: unknown, path = ''): string[] {
  if (typeof body === 'object' && body !== null)
    return Object.entries(body).flatMap(([key, value]) =>
      fieldLines(value, path === '' ? key : `${path}.${key}`),
    )
  return [`     ${shorten(`${path}: ${JSON.stringify(body)}`, COLUMNS - 5)}`]
}

/** The faults in force, a line each. */
export function formatFaults(faults: readonly Fault[]): string {
  if (faults.length === 0) return 'no fault is in force'
  const rows = faults.map(({ id, spec, words, endsAt }) => {
    return [id, spec.node, words, endsAt === null ? '' : `until ${endsAt}`]
  })
  return inColumns(FAULT_WIDTHS, rows).join('\n')
}

/** The network of a cluster, as `createScan` takes it, and the address of its validator. */
export function presetOf({
  cluster,
  nodes,
  validator,
}: {
  readonly cluster: Pick<ClusterStatus['cluster'], 'genesisHash'>
  readonly nodes: readonly { readonly url: string }[]
  readonly validator: { readonly url: string }
}) {
  const seeds = nodes.map(({ url }) => url)
  const network = { name: 'localnet', genesis: cluster.genesisHash, seeds }
  return { network, validator: { url: validator.url } }
}

/** As variables of a shell, with the names that the examples of the SDK read. The values have no character to quote. */
export function formatPreset({ network, validator }: ReturnType<typeof presetOf>): string {
  const [seed = ''] = network.seeds
  return [
    `export SEED=${seed}`,
    `export SEEDS=${network.seeds.join(',')}`,
    `export GENESIS_HASH=${network.genesis}`,
    `export VALIDATOR=${validator.url}`,
  ].join('\n')
}
