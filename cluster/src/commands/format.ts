/** Texts of the command line, at most 80 columns wide. Whether something works is decided in `view/`. */
import { COLUMNS, hint, wrap } from '@quorumscan/cli'
import { isAnswer, wordOfState } from '@quorumscan/errors/node-words'
import type { Fault } from '../faults/fault-spec.ts'
import type { Exchange } from '../rig/registration.ts'
import {
  type AtNodes,
  type ClusterStatus,
  type LiveNode,
  type LiveStatus,
  type NodeStatus,
  servicesOf,
} from '../rig/status.ts'
import { budgetsOf } from '../view/budgets.ts'
import { missedVotes, shorten } from '../view/words.ts'

/** Quorum headers of a proxied answer (D-40), in the order in which they read best. */
const QUORUM_HEADERS = ['outcome', 'threshold', 'agreed', 'dissented', 'nodes', 'offset']
const STATUS_WIDTHS = [14, 13, 9, 9, 10]
const MEASURED_WIDTHS = [14, 13, 18]
const FAULT_WIDTHS = [11, 14, 30]

/** A status with or without what a control plane measures. */
type MeasuredStatus = Omit<ClusterStatus, 'nodes'> &
  Partial<Pick<LiveStatus, 'faults' | 'atNodes'>> & {
    readonly nodes: readonly (NodeStatus & Partial<LiveNode>)[]
  }

/** Rows as lines; what is wider than its column is followed by the next cell at once. */
export function inColumns(
  widths: readonly number[],
  rows: readonly (readonly (string | number | null)[])[],
): string[] {
  const cellOf = (cell: string | number | null, index: number) =>
    String(cell ?? '-').padEnd(widths[index] ?? 0)
  return rows.map((cells) => cells.map(cellOf).join('').trimEnd())
}

/** Whether all is up, and what is not, or what it reports all the same. */
export function formatUp(status: MeasuredStatus): string {
  const services = servicesOf(status)
  const lacking = services.filter(({ state, detail }) => state !== 'up' || detail !== null)
  if (lacking.length === 0) return 'quorumscan is up.'
  const areUp = services.every(({ state }) => state === 'up')
  return [
    areUp
      ? 'quorumscan is up, but:'
      : budgetsOf(status).lookups.works
        ? 'quorumscan runs, but not all of it is up:'
        : 'quorumscan runs, but names cannot be looked up:',
    ...lacking.flatMap(({ name, state, detail }) =>
      wrap(`${name} is ${wordOfState[state]}${detail === null ? '' : `: ${detail}`}`),
    ),
  ].join('\n')
}

/** What `up` prints when everything is ready: where everything is, and what to do next. */
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
        : { 'kill sv-2': 'and look names up all the same' }),
      status: 'what runs, and what can still be lost',
    }),
    '',
    '`npx --no -- quorumscan --help` shows all commands.',
  ].join('\n')
}

/** Commands with what they do: next to them, or below where that is too long. */
function tryLines(tries: Readonly<Record<string, string>>): string[] {
  const typed = Object.entries(tries).map(
    ([command, does]) => [`  npx --no -- ${hint(command)}`, does] as const,
  )
  const width = Math.max(...typed.map(([command]) => command.length)) + 2
  const isWide = typed.some(([, does]) => width + does.length > COLUMNS)
  return typed.flatMap(([command, does]) =>
    isWide ? [command, `      ${does}`] : [command.padEnd(width) + does],
  )
}

/** The table of `status`, with what can still be lost in words. */
export function formatStatus(status: MeasuredStatus): string {
  const { nodes, validator, synchronizer, cluster } = status
  const rows = [
    ...nodes,
    { ...validator, name: 'validator' },
    { ...synchronizer, name: 'synchronizer' },
  ]
  const details = servicesOf(status).flatMap(({ name, detail }) =>
    detail === null ? [] : wrap(`${name}: ${detail}`),
  )
  return [
    ...inColumns(STATUS_WIDTHS, [
      ['', 'state', 'pid', 'redis', 'offset', 'url'],
      ...rows.map((row) => [
        ...[row.name, wordOfState[row.state], row.pid, row.redisPid, row.offset, row.url],
      ]),
    ]),
    ...orderingLines(status),
    ...measuredLines(status),
    '',
    ...details,
    ...describeMargin(status).flatMap(wrap),
    ...describeSize(cluster),
    `genesis ${cluster.genesisHash}`,
  ].join('\n')
}

/** How the members order together; nothing where one synchronizer does. */
function orderingLines(status: ClusterStatus): string[] {
  const { members, cluster } = status
  if (members.length === 0) return []
  const missed = missedVotes(status)
  const rows = members.map(({ name, state, ordering: report }) => [
    ...[name, wordOfState[state], report?.height ?? null, report?.round ?? null],
    report === null ? null : `${report.connected.length} of ${cluster.n - 1}`,
    missed.includes(name) ? 'misses votes' : '',
  ])
  return [
    '',
    ...inColumns(STATUS_WIDTHS, [['ordering', 'state', 'block', 'round', 'engines', ''], ...rows]),
  ]
}

/** What only a running control plane knows: latencies, agreement, and what is broken. */
function measuredLines({ nodes, faults = [] }: MeasuredStatus): string[] {
  const number = (value: number | null | undefined, unit: string) =>
    value == null ? '-' : `${Math.round(value)}${unit}`
  const rows = nodes
    .filter(({ p50Ms }) => p50Ms != null)
    .map(({ name, lag, agreement, p50Ms, p99Ms }) => [
      ...[name, `lag ${number(lag, '')}`, `agrees ${number(agreement, ' %')}`],
      `p50 ${number(p50Ms, ' ms')}, p99 ${number(p99Ms, ' ms')}`,
    ])
  const errors = nodes
    .filter(({ lastError }) => lastError != null)
    .map(({ name, lastError }) => shorten(`${name.padEnd(14)}last error ${lastError}`, COLUMNS))
  const measured = rows.length === 0 ? [] : ['', ...inColumns(MEASURED_WIDTHS, rows), ...errors]
  return [...measured, ...(faults.length === 0 ? [] : ['', formatFaults(faults)])]
}

/** What works and what can still be lost, a line each, and what a reader of the nodes got. */
export function describeMargin(status: MeasuredStatus): readonly string[] {
  const { atNodes } = status
  const lines = Object.entries(budgetsOf(status)).map(
    ([name, { detail, verdict }]) => `${name.padEnd(15)}${detail}: ${verdict}`,
  )
  if (atNodes != null) lines.splice(1, 0, `${' '.repeat(15)}${describeRead(atNodes)}`)
  return lines
}

function describeRead({ kind, needed, signers, asked, latencyMs }: AtNodes): string {
  const why = asked.map(({ node, reason }) => `${node}: ${reason}`).join(', ')
  const more = isAnswer(kind)
    ? `, ${signers.length} signed, ${needed} needed, ${Math.round(latencyMs)} ms`
    : why && ` (${why})`
  return `a reader of the nodes: ${kind}${more}`
}

/** Size and thresholds, a sentence each. */
function describeSize({
  n,
  f,
  readThreshold,
  confirmThreshold,
}: ClusterStatus['cluster']): string[] {
  return [
    `n = ${n}, f = ${f}: an answer needs ${readThreshold}, an operator action ${confirmThreshold}`,
    ...(f === 0 ? ['Below 4 nodes no fault is tolerated.'] : []),
  ]
}

/** One step of the demo: the request and the answer, in short. */
export function formatExchange({
  method,
  path,
  requestBody,
  status,
  headers,
  body,
}: Exchange): string {
  const sent = requestBody === null ? '' : ` ${JSON.stringify(requestBody)}`
  const quorum = QUORUM_HEADERS.flatMap((name) => {
    const value = headers.get(`x-quorum-${name}`)
    return value ? `     x-quorum-${name}: ${value}` : []
  })
  return [
    `  -> ${shorten(`${method} ${path}${sent}`, COLUMNS - 5)}`,
    `  <- ${status}`,
    ...quorum,
    ...fieldLines(body),
  ].join('\n')
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
  if (faults.length === 0) return 'nothing is broken'
  const rows = faults.map(({ id, spec, words, endsAt }) => [
    ...[id, spec.node, words, endsAt === null ? '' : `until ${endsAt}`],
  ])
  return inColumns(FAULT_WIDTHS, rows).join('\n')
}
