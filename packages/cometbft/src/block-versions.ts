/**
 * By which version of the protocol blocks are judged: asked of the own scan node, whose replica applies the log. What
 * it said last is kept, for starts at which it does not answer yet.
 */
import { type ClientTls, type Clock, fromUtf8, within } from '@quorumscan/base'
import { blockVersionAt, type DsoRulesPayload, dsoRules } from '@quorumscan/ledger'
import { isOffset, type Micros, type Offset } from '@quorumscan/model'
import { createUndiciTransport } from '@quorumscan/runtime'
import type { Genesis } from '@quorumscan/verifier'
import { readKept } from './kept-file.ts'

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

export type BlockVersions = AsyncDisposable & {
  /** For the block behind an entry with this record time. */
  versionAt(recordTime: Micros): number
}

/** Begins to ask at once. @param options.nodeUrl - Null: it has no vote, and asks nobody. */
export async function followBlockVersions(options: {
  readonly nodeUrl: string | null
  readonly file: string
  /** Replaces the file as a whole. */
  readonly write: (file: string, text: string) => Promise<void>
  readonly genesis: Pick<Genesis, 'protocolVersion'>
  readonly trust: ClientTls | null
  readonly clock: Clock
  readonly onProblem: (error: unknown) => void
}): Promise<BlockVersions> {
  const { nodeUrl, file, genesis, clock, onProblem } = options
  const closing = new AbortController()
  const { signal } = closing
  const transport = createUndiciTransport({ trust: options.trust })
  let known: Versions = await readKept(file, {
    offset: 0,
    rules: { protocolVersion: genesis.protocolVersion, nextVersion: null },
  })

  const ask = async (url: string): Promise<Versions> => {
    const reply = await within(
      { clock, timeoutMs: ANSWER_MS_MAX, signal },
      (signal) =>
        transport.request({
          ...{ url, method: 'GET', path: '/v0/dso', headers: {}, body: null, signal },
          bytesMax: ANSWER_BYTES_MAX,
          channel: 'lookup',
          isPublicOnly: false, // Configured by the operator.
        }),
      () => {
        throw new Error('no answer')
      },
    )
    if (reply.status !== 200) throw new Error(`status ${reply.status}`)
    return versionsOf(reply.body, reply.header('x-ledger-offset'))
  }
  const follow = async (url: string): Promise<void> => {
    let isTold = false
    let written = JSON.stringify(known.rules)
    while (!signal.aborted) {
      try {
        const heard = await ask(url)
        isTold = false
        // A replica that was wiped tells what held before.
        if (heard.offset > known.offset) {
          known = heard
          const rules = JSON.stringify(heard.rules)
          // Where the write fails, the next answer tries it again.
          if (rules !== written) await options.write(file, JSON.stringify(known))
          written = rules
        }
      } catch (error) {
        if (!signal.aborted && !isTold) onProblem(error)
        isTold = true
      }
      await clock.delay(ROUND_MS, signal).catch(() => {}) // Closing: the loop ends.
    }
  }
  const following = nodeUrl === null ? Promise.resolve() : follow(nodeUrl)
  return {
    versionAt: (recordTime) => blockVersionAt(known.rules, recordTime),
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('closed'))
      await following
      await transport[Symbol.asyncDispose]()
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
