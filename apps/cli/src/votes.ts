/** `resolve --votes`: the votes of the nodes that the scan proxy received, also if they differ. */

import { printable } from '@quorumscan/base'
import { AGREED, DISSENTED } from '@quorumscan/errors/node-words'
import { ask, CommandError, NoReplyError, UsageError } from '@quorumscan/runtime'
import { memberOf, membersOf } from '@quorumscan/verifier'
import { wrap } from './options.ts'
import { entryLines, field, lookupOf } from './text.ts'

/** The proxy waits 2 s for its nodes. */
const LOOKUP_MS_MAX = 5000
const BAD_REQUEST = 400

export type Voted = Awaited<ReturnType<typeof askVotes>>
type Group = {
  /** Their votes are equal. */
  readonly nodes: readonly string[]
  /** null: the proxy does not report it. */
  readonly offset: number | null
  /** null: no entry exists. Absent where the proxy does not report it. */
  readonly entry?: Readonly<Record<string, string | null>> | null
  readonly digest: string | null
}

/** @throws {CommandError} If the proxy does not report votes. */
export async function askVotes(options: {
  readonly validatorUrl: string
  /** A name or a party. */
  readonly subject: string
  readonly quorum: string
}) {
  const lookup = lookupOf(options.subject)
  const way = 'name' in lookup ? 'by-name' : 'by-party'
  const path = `/v0/scan-proxy/ans-entries/${way}/${encodeURIComponent(options.subject)}`
  const { status, headers, body, reason } = await ask(options.validatorUrl + path, {
    headers: { 'x-quorum': options.quorum },
    timeoutMs: LOOKUP_MS_MAX,
  })
  if (status === null) throw new NoReplyError(`the validator does not answer (${reason})`)
  const kind = headers.get('x-quorum-outcome')
  const { entry, error = `status ${status}`, details } = membersOf(body)
  if (kind === null) {
    const Kind = status === BAD_REQUEST ? UsageError : CommandError
    throw new Kind(`the scan proxy answers: ${error}`)
  }
  const isDecided = status === 200 || status === 404
  const nodesIn = (name: string) => (headers.get(`x-quorum-${name}`) || null)?.split(',') ?? []
  const offset = Number(headers.get('x-quorum-offset'))
  const decided: readonly Group[] = [
    { nodes: nodesIn('agreed'), offset, entry: shownEntry(entry), digest: null },
    { nodes: nodesIn('dissented'), offset: null, digest: null },
  ]
  return {
    kind,
    threshold: Number(headers.get('x-quorum-threshold')),
    /** How many nodes answered, of how many, as `3/4`. */
    heard: headers.get('x-quorum-nodes') ?? '',
    /** The group that decided first, or the largest. */
    groups: isDecided
      ? decided.filter(({ nodes }) => nodes.length > 0)
      : [memberOf(details, 'groups') ?? []].flat().map(groupOf),
    /** Why the outcome is not an answer; null for an answer. */
    reason: isDecided ? null : String(error),
  }
}

function groupOf(group: unknown): Group {
  const { nodes, offset, entry, answer_digest: digest } = membersOf(group)
  const names = [nodes].flat().map(String)
  return { nodes: names, offset: Number(offset), entry: shownEntry(entry), digest: String(digest) }
}

/** The entry of an answer, to be shown; null: there is none. */
function shownEntry(entry: unknown): NonNullable<Group['entry']> | null {
  return typeof entry === 'object' ? (entry as NonNullable<Group['entry']> | null) : null
}

/** The votes as text. */
export function formatVoted(subject: string, voted: Voted): string {
  const { kind, threshold, heard, groups, reason } = voted
  return [
    `${printable(subject)}: ${kind}, by votes: ${threshold} needed, ${heard} answered`,
    ...groups.flatMap(({ nodes, offset, entry, digest }) => [
      `  ${printable(nodes.join(', '))}: ${voteOf(offset, reason === null)}`,
      ...(entry === undefined ? [] : entryLines(entry)),
      ...(digest === null ? [] : [field('digest', digest)]),
    ]),
    ...(reason === null ? [] : wrap(printable(reason))),
  ].join('\n')
}

/** The vote of a group. In a dispute no group agrees yet. */
function voteOf(offset: number | null, isDecided: boolean): string {
  if (offset === null) return DISSENTED
  return `${isDecided ? `${AGREED}, ` : ''}at offset ${offset}`
}
