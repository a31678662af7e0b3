/**
 * The version of the protocol by which blocks are checked. It is read from this operator's scan node, whose replica applies the log.
 * The last answer is stored, for starts at which the node does not answer yet.
 */

import { existsSync } from 'node:fs'
import { type ClientTls, type Clock, fromUtf8, readParsed } from '@quorumscan/base'
import { blockVersionAt, type DsoRulesPayload, dsoRules } from '@quorumscan/ledger'
import { isOffset, type Micros, type Offset } from '@quorumscan/model'
import {
  createPeerClient,
  createRateLimitedLog,
  type Peer,
  repeat,
  writeFileAtomic,
} from '@quorumscan/runtime'
import type { Genesis } from '@quorumscan/verifier'
import { memberOf, membersOf } from '@quorumscan/verifier'

/** The time between polls: far less than the delay after which a version holds for blocks. */
const POLL_MS = 5_000
/** A node that starts with this process answers within this time, or has a problem. */
const START_MS_MAX = 60_000
const ANSWER_MS_MAX = 2_000
/** The rules name each member, of which there are at most a hundred. */
const ANSWER_BYTES_MAX = 256 * 1024

type Versions = {
  /** The offset at which the node reported the rules. */
  readonly offset: Offset
  readonly rules: Pick<DsoRulesPayload, 'protocolVersion' | 'nextVersion'>
}

/** Starts to poll at once. @param options.node - Null: the member has no vote, and polls no node. */
export async function followBlockVersions(options: {
  readonly node: Pick<Peer, 'url'> | null
  readonly file: string
  readonly genesis: Pick<Genesis, 'protocolVersion'>
  readonly trust: ClientTls | null
  readonly clock: Clock
  readonly onProblem: (error: unknown) => void
}) {
  const { node, file, genesis, clock, onProblem } = options
  const client = createPeerClient({ clock, trust: options.trust })
  const rules = { protocolVersion: genesis.protocolVersion, nextVersion: null }
  let known: Versions = existsSync(file) ? await readParsed(file, JSON.parse) : { offset: 0, rules }

  const problems = createRateLimitedLog({ clock, perSubjectMs: Number.POSITIVE_INFINITY })
  const startedMs = clock.monotonicMs()
  let hasAnswered = false
  let written = JSON.stringify(known.rules)
  // The address is read at each request: the node may move to another one.
  const ask = async ({ url }: Pick<Peer, 'url'>, signal: AbortSignal): Promise<void> => {
    const bounds = { bytesMax: ANSWER_BYTES_MAX, timeoutMs: ANSWER_MS_MAX, signal }
    const reply = await client.request(url, { path: '/v0/dso', ...bounds })
    if (reply.status !== 200) throw new Error(`status ${reply.status}`)
    const answered = versionsOf(reply.body, reply.header('x-ledger-offset'))
    problems.forget()
    hasAnswered = true
    // A replica that was wiped reports older rules.
    if (answered.offset <= known.offset) return
    known = answered
    const rules = JSON.stringify(answered.rules)
    // If the write fails, the next answer tries it again.
    if (rules !== written) writeFileAtomic(file, JSON.stringify(known))
    written = rules
  }
  const onError = (error: unknown) => {
    // The node starts after this process.
    if (!hasAnswered && clock.monotonicMs() - startedMs < START_MS_MAX) return
    problems.write('', () => onProblem(error))
  }
  const asking =
    node === null
      ? null
      : repeat((signal) => ask(node, signal), { clock, everyMs: POLL_MS, onError })
  return {
    /** The version for the block after an entry with this record time. */
    versionAt: (recordTime: Micros) => blockVersionAt(known.rules, recordTime),
    async [Symbol.asyncDispose](): Promise<void> {
      await asking?.[Symbol.asyncDispose]()
      await client[Symbol.asyncDispose]()
    },
  }
}

export type BlockVersions = Awaited<ReturnType<typeof followBlockVersions>>

/** @throws {Error} If this is not an answer of a scan node. */
function versionsOf(body: Uint8Array, offsetHeader: string | null): Versions {
  const offset = Number(offsetHeader ?? 'none')
  if (!isOffset(offset)) throw new Error('the answer names no offset')
  const { contract } = membersOf(memberOf(JSON.parse(fromUtf8(body)), 'dso_rules'))
  const { protocolVersion, nextVersion } = dsoRules.type.decode(memberOf(contract, 'payload'), [])
  return { offset, rules: { protocolVersion, nextVersion } }
}
