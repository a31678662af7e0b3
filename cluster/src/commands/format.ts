/** Texts of the command line, at most 80 columns wide. */

import { COLUMNS, hint, wrap } from '@quorumscan/cli'
import { wordOfState } from '@quorumscan/errors/node-words'
import type { ServiceStatus } from '@quorumscan/supervisor'
import { budgetsOf } from '../budgets.ts'
import type { Fault } from '../faults/fault-spec.ts'
import type { Exchange } from '../registration.ts'
import {
  type ClusterStatus,
  describeMargin,
  describeSize,
  missedVotes,
  servicesOf,
} from '../status.ts'
import type { LiveStatus } from '../watch/live.ts'

/** Quorum headers of a proxied answer (D-40), in the order in which they read best. */
const QUORUM_HEADERS = ['outcome', 'threshold', 'agreed', 'dissented', 'nodes', 'offset']

/** Whether all is up, and what is not, or what it says all the same. */
export function formatUp(status: ClusterStatus): string {
  const services = servicesOf(status)
  const lacking = services.filter(({ state, detail }) => state !== 'up' || detail !== null)
  if (lacking.length === 0) return 'quorumscan is up.'
  return [
    services.every(({ state }) => state === 'up')
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
    ...tryLines([
      ['demo', 'register a name, step by step'],
      status.cluster.f === 0
        ? ['token alice', 'a token for a user of the validator']
        : ['kill sv-2', 'and look names up all the same'],
      ['status', 'what runs, and what can still be lost'],
    ]),
    '',
    '`npx --no -- quorumscan --help` shows all commands.',
  ].join('\n')
}

/** Commands with what they do: beside them, or below where that is too long. */
function tryLines(tries: readonly (readonly [command: string, does: string])[]): string[] {
  const typed = tries.map(([command, does]) => [`  npx --no -- ${hint(command)}`, does] as const)
  const width = Math.max(...typed.map(([command]) => command.length)) + 2
  const isWide = typed.some(([, does]) => width + does.length > COLUMNS)
  return typed.flatMap(([command, does]) =>
    isWide ? [command, `      ${does}`] : [command.padEnd(width) + does],
  )
}

/** The table of `status`, with what can still be lost in words. */
export function formatStatus(status: ClusterStatus | LiveStatus): string {
  const rows = [
    ['', 'state', 'pid', 'redis', 'offset', 'url'],
    ...status.nodes.map((node) => row(node.name, node)),
    row('validator', status.validator),
    row('synchronizer', status.synchronizer),
  ]
  const table = inColumns(rows)
  const details = servicesOf(status)
    .filter((service) => service.detail !== null)
    .map((service) => `${service.name}: ${service.detail}`)
  return [
    ...table,
    ...ordering(status),
    ...measured(status),
    '',
    ...details.flatMap(wrap),
    ...describeMargin(status).flatMap(wrap),
    ...describeSize(status.cluster),
    `genesis ${status.cluster.genesisHash}`,
  ].join('\n')
}

/** How the members order together; nothing where one synchronizer does. */
function ordering(status: ClusterStatus | LiveStatus): string[] {
  const { members, cluster } = status
  if (members.length === 0) return []
  const missed = missedVotes(status)
  const rows = members.map(({ name, state, ordering: report }) => [
    name,
    wordOfState[state],
    String(report?.height ?? '-'),
    String(report?.round ?? '-'),
    report === null ? '-' : `${report.connected.length} of ${cluster.n - 1}`,
    missed.includes(name) ? 'misses votes' : '',
  ])
  return ['', ...inColumns([['ordering', 'state', 'block', 'round', 'engines', ''], ...rows])]
}

function inColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = [14, 13, 9, 9, 10]
  return rows.map((cells) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('')
      .trimEnd(),
  )
}

/** What only a running control plane knows: latencies, agreement, and what is broken. */
function measured(status: ClusterStatus | LiveStatus): string[] {
  if (!('faults' in status)) return []
  const number = (value: number | null, unit: string) =>
    value === null ? '-' : `${Math.round(value)}${unit}`
  const rows = status.nodes
    .filter(({ p50Ms }) => p50Ms !== null)
    .map((node) =>
      [
        node.name.padEnd(14),
        `lag ${number(node.lag, '')}`.padEnd(13),
        `agrees ${number(node.agreement, ' %')}`.padEnd(18),
        `p50 ${number(node.p50Ms, ' ms')}, p99 ${number(node.p99Ms, ' ms')}`,
      ].join(''),
    )
  const errors = status.nodes
    .filter(({ lastError }) => lastError !== null)
    .map(({ name, lastError }) => shorten(`${name.padEnd(14)}last error ${lastError}`, COLUMNS))
  const faults = status.faults.length === 0 ? [] : ['', ...formatFaults(status.faults).split('\n')]
  return [...(rows.length === 0 ? [] : ['', ...rows, ...errors]), ...faults]
}

/** One step of the demo: the request and the answer, in short. */
export function formatExchange(exchange: Exchange): string {
  const request = [exchange.method, exchange.path, bodyText(exchange.requestBody)]
  const quorum = QUORUM_HEADERS.flatMap((header) => {
    const value = exchange.headers.get(`x-quorum-${header}`)
    return value === null || value === '' ? [] : [`     x-quorum-${header}: ${value}`]
  })
  return [
    `  -> ${shorten(request.filter((part) => part !== '').join(' '), COLUMNS - 5)}`,
    `  <- ${exchange.status}`,
    ...quorum,
    ...fieldLines(exchange.body),
  ].join('\n')
}

/** Keeps both ends of a text that is too long: identifiers differ at either. */
export function shorten(text: string, columns: number): string {
  if (text.length <= columns) return text
  const tail = Math.floor(columns / 4)
  return `${text.slice(0, columns - tail - 1)}…${text.slice(-tail)}`
}

function row(name: string, service: ServiceStatus): string[] {
  const text = (value: number | null) => (value === null ? '-' : String(value))
  return [
    name,
    wordOfState[service.state],
    text(service.pid),
    text(service.redisPid),
    text(service.offset),
    service.url,
  ]
}

function bodyText(body: unknown): string {
  return body === null ? '' : JSON.stringify(body)
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
  return faults
    .map(({ id, spec, words, endsAt }) =>
      [
        id.padEnd(11),
        spec.node.padEnd(14),
        words.padEnd(30),
        endsAt === null ? '' : `until ${endsAt}`,
      ]
        .join('')
        .trimEnd(),
    )
    .join('\n')
}
