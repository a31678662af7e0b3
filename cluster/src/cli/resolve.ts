/**
 * `resolve`: a lookup by the reader itself, at the nodes themselves. No proxy is asked, so none is
 * trusted: what is printed is what enough keys of the genesis stand behind.
 */
import type { Clock } from '@quorumscan/base'
import {
  createFetchTransport,
  type Decided,
  type Genesis,
  hashGenesis,
  isDecided,
  type Lookup,
  type Outcome,
  type Reader,
  ReaderError,
  type ReadOptions,
  reverseLookup,
} from '@quorumscan/consensus'
import { createReader } from '@quorumscan/consensus/reader'
import { formatTime } from '@quorumscan/model'
import { ClusterError } from '../cluster-error.ts'
import { askEach, type Explained } from './explain.ts'
import { lookupOf, printable } from './text.ts'
import { parseVotes } from './verify.ts'

export type ResolveOptions = {
  readonly genesis: Genesis
  /** Addresses of nodes; the reader learns the others from them. */
  readonly seeds: readonly string[]
  /** A name or a party. */
  readonly subject: string
  /** weak, strong, all or a number. */
  readonly quorum: string
  /** Whether to ask every node and show what it says. */
  readonly explain: boolean
  readonly clock: Clock
}

export type Resolved = {
  readonly outcome: Outcome
  /** Of a party: whether its name leads back to it, the only names to show. Null where a name was asked. */
  readonly match: boolean | null
  /** One per node of the genesis; null unless it was asked for. */
  readonly votes: readonly Explained[] | null
}

/** @throws {ClusterError} If the options make no sense. */
export async function resolve(options: ResolveOptions): Promise<Resolved> {
  const { clock, genesis, seeds } = options
  const threshold = parseVotes(options.quorum, genesis)
  const lookup = lookupOf(options.subject)
  const transport = createFetchTransport()
  const reader = createReader({
    genesis,
    genesisHash: await hashGenesis(genesis),
    seeds,
    transport,
    clock,
    allowPrivateAddresses: true,
  })
  try {
    const { outcome, match } = await lookUp(reader, lookup, { threshold, explain: options.explain })
    if (!options.explain) return { outcome, match, votes: null }
    // The reader waits for no node beyond the threshold; whoever wants to know has each asked.
    const { nodes } = reader.status()
    const votes = isDecided(outcome)
      ? await askEach(nodes, { lookup, outcome, transport, clock })
      : (outcome.votes ?? [])
    return { outcome, match, votes }
  } catch (error) {
    if (error instanceof ReaderError) throw new ClusterError(error.message, { cause: error })
    throw error
  } finally {
    await reader[Symbol.asyncDispose]()
  }
}

async function lookUp(
  reader: Reader,
  lookup: Lookup,
  options: ReadOptions,
): Promise<Pick<Resolved, 'outcome' | 'match'>> {
  if ('party' in lookup) return reverseLookup(reader, lookup.party, options)
  const [outcome] = (await reader.lookup([lookup], options)) as [Outcome] // One asked, one answered.
  return { outcome, match: null }
}

/** For a person. */
export function formatResolved(subject: string, { outcome, match, votes }: Resolved): string {
  return [
    `${printable(subject)}: ${outcome.kind}`,
    ...(isDecided(outcome) ? decidedLines(outcome) : undecidedLines(outcome)),
    ...(match === null ? [] : [line('leads back', match ? 'yes' : 'no: do not show a name')]),
    ...(votes === null ? [] : ['', ...voteTable(votes)]),
  ].join('\n')
}

/** For a program: the answer as a value, the rest as the reader gives it. */
export function resolvedJson({ outcome, match, votes }: Resolved): string {
  const shown = isDecided(outcome)
    ? { ...outcome, answer: JSON.parse(new TextDecoder().decode(outcome.answer)) }
    : outcome
  return JSON.stringify({ ...shown, match, votes })
}

function decidedLines(outcome: Decided): string[] {
  // An answer to a lookup is valid only if it has this shape.
  const { entry } = JSON.parse(new TextDecoder().decode(outcome.answer)) as {
    entry: Readonly<Record<string, string | null>> | null
  }
  const members = Object.entries(entry ?? {}).map(([name, value]) => [name, value ?? '-'] as const)
  const facts = [
    ['offset', `${outcome.offset}, of ${formatTime(outcome.recordTime)}`],
    ['agreed', `${outcome.agreed.join(', ')} (${outcome.threshold} needed)`],
    ...(outcome.dissented.length > 0 ? [['dissented', outcome.dissented.join(', ')] as const] : []),
  ] as const
  return [...members, ...facts].map(([name, value]) => line(name, value))
}

function line(name: string, value: string): string {
  return `  ${name.padEnd(13)}${printable(value)}`
}

function undecidedLines(outcome: Exclude<Outcome, Decided>): string[] {
  switch (outcome.kind) {
    case 'disputed':
      return outcome.groups.map(
        (group) =>
          `  ${group.nodes.join(', ')} say ${group.answerDigest} at offset ${group.offset}`,
      )
    case 'insufficient':
      return [`  ${outcome.reachable} nodes can be used, ${outcome.needed} must agree`]
    case 'lagging':
      return [
        `  ${outcome.reason}: offset ${outcome.wantedOffset} is wanted, the nodes have ${outcome.headOffset ?? 'none'}`,
      ]
  }
}

const VOTE_COLUMNS = [10, 12, 9]

function voteTable(votes: readonly Explained[]): string[] {
  const rows = votes.map(({ node, kind, head, reason }) => [
    node,
    kind,
    head === null ? '-' : String(head),
    reason ?? '',
  ])
  return [['node', 'vote', 'head', ''], ...rows].map((cells) =>
    `  ${cells.map((cell, index) => printable(cell).padEnd(VOTE_COLUMNS[index] ?? 0)).join(' ')}`.trimEnd(),
  )
}
