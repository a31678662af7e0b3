/** The pending proposals of super-validators, and the version of the protocol, as one scan node reports them. */
import { confirmation, confirmSetProtocolVersionCommand, type LfValue } from '@quorumscan/ledger'
import { parseTime } from '@quorumscan/model'
import { CommandError } from '@quorumscan/runtime'
import { canonicalJson, formatInstant, type Json, memberOf } from '@quorumscan/verifier'
import { z } from 'zod'
import { ansConfigOf, askFor, confirm } from './confirm-rules.ts'

export type Proposals = Awaited<ReturnType<typeof readProposals>>

type Proposal = {
  readonly change: Change
  /** The super-validators in the order of their confirmations. */
  readonly confirmedBy: readonly string[]
  /** The time of the first confirmation. */
  readonly since: string
}

/** A proposed change as JSON: other rules, or another version of the protocol. Null: it is of another kind. */
export type Change = ReturnType<typeof changeOf>

const proposalsAnswer = z.object({
  voting_threshold: z.int(),
  confirmations: z.array(
    z.object({ contract: z.object({ payload: z.json(), created_at: z.string() }) }),
  ),
  protocol: z.object({
    version: z.int(),
    newest_known: z.int(),
    next: z.object({ version: z.int(), not_before: z.string() }).nullable(),
  }),
})

/** @param url - Of a scan node: what comes before `/proposals`. @throws {CommandError} As `askFor`. */
export async function readProposals(url: string) {
  const answer = await askFor(`${url}/proposals`, proposalsAnswer)
  const { voting_threshold, confirmations, protocol } = answer
  const byChange = new Map<string, Proposal>()
  const inOrder = confirmations.toSorted(({ contract: one }, { contract: other }) =>
    one.created_at < other.created_at ? -1 : 1,
  )
  for (const { contract } of inOrder) {
    const { action, confirmer } = confirmation.type.decode(contract.payload as never, [])
    const key = canonicalJson(memberOf(contract.payload, 'action') as Json)
    const known = byChange.get(key)
    byChange.set(key, {
      change: changeOf(action),
      confirmedBy: [...(known?.confirmedBy ?? []), confirmer.slice(0, confirmer.indexOf('::'))],
      since: known?.since ?? contract.created_at,
    })
  }
  const { version, newest_known: newestKnown, next } = protocol
  return {
    /** The number of equal confirmations that a change needs. */
    needed: voting_threshold,
    pending: [...byChange.values()],
    protocol: {
      version,
      /** The newest that the software of the node knows. */
      newestKnown,
      next: next === null ? null : { version: next.version, notBefore: next.not_before },
    },
  }
}

function changeOf({ tag, value }: LfValue<typeof confirmation.type>['action']) {
  if (tag === 'SetAnsConfig') return ansConfigOf(value.config)
  if (tag !== 'SetProtocolVersion') return null
  const { version, notBefore } = value
  const from = notBefore === null ? null : formatInstant(notBefore)
  return { protocolVersion: version, notBefore: from }
}

/**
 * Votes for a version of the protocol in the name of one super-validator, and returns its name.
 *
 * @param vote.notBefore - RFC 3339; null: as soon as enough have voted.
 * @throws {CommandError} If its own node does not know the version, or as `confirm`: nothing was voted for.
 */
export async function voteForVersion(
  voter: Parameters<typeof confirm>[0],
  vote: { readonly version: number; readonly notBefore: string | null },
): Promise<string> {
  const { version } = vote
  const { protocol } = await readProposals(voter.rulesUrl)
  if (version > protocol.newestKnown)
    throw new CommandError(
      `nothing was voted for: the software of this node knows no version of the protocol beyond ${protocol.newestKnown}: install one that knows ${version} first`,
    )
  if (version < protocol.version)
    throw new CommandError(
      `nothing was voted for: version ${protocol.version} of the protocol is already in force, and an older one cannot come back. Vote for a newer one, or for ${protocol.version} to take a vote back`,
    )
  const notBefore = vote.notBefore === null ? null : parseTime(vote.notBefore)
  if (notBefore === undefined)
    throw new CommandError(
      `nothing was voted for: --not-before "${vote.notBefore}" is not a time. Write it as in 2030-01-31T12:00:00Z`,
    )
  return await confirm(voter, (by) =>
    confirmSetProtocolVersionCommand({ ...by, version, notBefore }),
  )
}
