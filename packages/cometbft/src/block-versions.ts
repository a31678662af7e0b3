/**
 * By which version of the protocol blocks are judged: asked of the own scan node, whose replica applies the log. What
 * it said last is kept, for starts at which it does not answer yet.
 */
import { existsSync } from 'node:fs'
import { type ClientTls, type Clock, fromUtf8, readParsed } from '@quorumscan/base'
import { blockVersionAt, type DsoRulesPayload, dsoRules } from '@quorumscan/ledger'
import { isOffset, type Micros, type Offset } from '@quorumscan/model'
import { createPeerClient, quiet, repeat, writeFileAtomic } from '@quorumscan/runtime'
import type { Genesis } from '@quorumscan/verifier'

/** Between questions: far less than what versions begin later for blocks. */
const ROUND_MS = 5_000
const ANSWER_MS_MAX = 2_000
/** The rules name each member, of which there are at most a hundred. */
const ANSWER_BYTES_MAX = 256 * 1024

type Versions = {
  /** At which the node said so. */
  readonly offset: Offset
  readonly rules: Pick<DsoRulesPayload, 'protocolVersion' | 'nextVersion'>
}

/** Begins to ask at once. @param options.nodeUrl - Null: it has no vote, and asks nobody. */
export async function followBlockVersions(options: {
  readonly nodeUrl: string | null
  readonly file: string
  readonly genesis: Pick<Genesis, 'protocolVersion'>
  readonly trust: ClientTls | null
  readonly clock: Clock
  readonly onProblem: (error: unknown) => void
}) {
  const { nodeUrl, file, genesis, clock, onProblem } = options
  const client = createPeerClient({ clock, trust: options.trust })
  const rules = { protocolVersion: genesis.protocolVersion, nextVersion: null }
  let known: Versions = existsSync(file) ? await readParsed(file, JSON.parse) : { offset: 0, rules }

  const problems = quiet({ clock, perSubjectMs: Number.POSITIVE_INFINITY })
  let written = JSON.stringify(known.rules)
  const ask = async (url: string, signal: AbortSignal): Promise<void> => {
    const reply = await client.request(url, {
      path: '/v0/dso',
      bytesMax: ANSWER_BYTES_MAX,
      timeoutMs: ANSWER_MS_MAX,
      signal,
    })
    if (reply.status !== 200) throw new Error(`status ${reply.status}`)
    const heard = versionsOf(reply.body, reply.header('x-ledger-offset'))
    problems.forget()
    // A replica that was wiped tells what held before.
    if (heard.offset <= known.offset) return
    known = heard
    const rules = JSON.stringify(heard.rules)
    // Where the write fails, the next answer tries it again.
    if (rules !== written) writeFileAtomic(file, JSON.stringify(known))
    written = rules
  }
  const onError = (error: unknown) => problems.write('', () => onProblem(error))
  const asking =
    nodeUrl === null
      ? null
      : repeat((signal) => ask(nodeUrl, signal), { clock, everyMs: ROUND_MS, onError })
  return {
    /** For the block behind an entry with this record time. */
    versionAt: (recordTime: Micros) => blockVersionAt(known.rules, recordTime),
    async [Symbol.asyncDispose](): Promise<void> {
      await asking?.[Symbol.asyncDispose]()
      await client[Symbol.asyncDispose]()
    },
  }
}

/** @throws {Error} If this is no answer of a scan node. */
function versionsOf(body: Uint8Array, offsetHeader: string | null): Versions {
  const offset = Number(offsetHeader ?? 'none')
  if (!isOffset(offset)) throw new Error('the answer names no offset')
  const { contract } = Object(Object(JSON.parse(fromUtf8(body))).dso_rules)
  const { protocolVersion, nextVersion } = dsoRules.type.decode(Object(contract).payload, [])
  return { offset, rules: { protocolVersion, nextVersion } }
}
