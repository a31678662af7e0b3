/** Other operators as this machine sees them: who answers, by which clock, and who votes. */
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type Clock, MICROS_PER_MS, withTimeout } from '@quorumscan/base'
import { parseAddress, readLogClientOptions, type ScanConfig } from '@quorumscan/config'
import type { ScanError } from '@quorumscan/errors'
import { describeFailure, describeRefusal, TIMEOUT } from '@quorumscan/errors/node-words'
import { createLogClient } from '@quorumscan/log'
import { parseNodeUrl } from '@quorumscan/reader'
import {
  ask,
  CLOCK_HEADER,
  type ClockReading,
  compareClock,
  describeClockSkew,
  isPublicAddress,
  type Peer,
  STALLED_MICROS,
} from '@quorumscan/runtime'
import { isTrusted, maxFaulty, type TrustRule } from '@quorumscan/verifier'
import type { MemberFile } from '../ceremony/member.ts'
import type { SignedStates } from '../signed-states.ts'
import { type Check, failed, ok, warning } from './check.ts'

/** A process that works answers `/livez` at once. A check must not wait long for one that does not. */
const ANSWER_MS_MAX = 3_000

/** A node, with its clock; or why it did not answer. */
export type PeerAnswer = {
  readonly name: string
  readonly reason: string | null
  readonly reading: ClockReading | null
}

export async function askPeers(
  peers: readonly Peer[],
  options: { readonly fetch: typeof globalThis.fetch; readonly clock: Clock },
): Promise<readonly PeerAnswer[]> {
  const { fetch, clock } = options
  return Promise.all(
    peers.map(async ({ name, url }) => {
      const startedMs = clock.monotonicMs()
      const reply = await ask(`${url}/livez`, { timeoutMs: ANSWER_MS_MAX, fetch })
      const atMs = (startedMs + clock.monotonicMs()) / 2
      const wallMicros = Number(reply.headers.get(CLOCK_HEADER) ?? Number.NaN)
      if (reply.status === null) return { name, reason: reply.reason, reading: null }
      if (!Number.isSafeInteger(wallMicros))
        return { name, reason: describeRefusal(reply.status, reply.body), reading: null }
      return { name, reason: null, reading: { peer: name, wallMicros, atMs, head: null } }
    }),
  )
}

export function checkPeers(answers: readonly PeerAnswer[]): Check {
  const silent = answers.flatMap(({ name, reason }) =>
    reason === null ? [] : [`${name}: ${wordOf(reason)}`],
  )
  const advice =
    'They may not run yet. If they do, check names, firewall and, for certificates of your own authority, QS_PEER_CA'
  return checkAnswers('peers', { what: 'other nodes', count: answers.length, silent, advice })
}

function checkAnswers(
  name: string,
  found: {
    readonly what: string
    readonly count: number
    readonly silent: readonly string[]
    readonly advice: string
  },
): Check {
  const { what, count, silent, advice } = found
  const detail = `${count - silent.length} of ${count} ${what} answer`
  return silent.length === 0
    ? ok(name, detail)
    : warning(name, [detail, silent.join(', ')].join('; '), advice)
}

/** The shared word advises a variable that only commands need. */
function wordOf(reason: string | null): string {
  return (reason ?? '').replace(/^(untrusted certificate).*/, '$1')
}

/** @param nodeCount - The number of super-validators: f + 1 of them decide. */
export function checkClock(answers: readonly PeerAnswer[], nodeCount: number, clock: Clock): Check {
  const readings = answers.flatMap(({ reading }) => reading ?? [])
  const now = { wallMicros: clock.nowMicros(), monotonicMs: clock.monotonicMs() }
  const needed = Math.min(maxFaulty(nodeCount) + 1, answers.length)
  const compared = compareClock({ readings, now, needed })
  if (compared.kind === 'unknown')
    return warning(
      'clock',
      `it could not be compared: ${needed} nodes must agree, and ${readings.length} answered`,
      'Check it again when they run',
    )
  const { skewMicros } = compared
  const advice = 'Check the time service of this machine (NTP)'
  const off = describeClockSkew(skewMicros, `those of ${needed} nodes or more`)
  if (compared.kind === 'agrees')
    return ok('clock', `${Math.round(Math.abs(skewMicros) / MICROS_PER_MS)} ms from the others`)
  const judge = Math.abs(skewMicros) > STALLED_MICROS ? failed : warning
  return judge('clock', off, advice)
}

/** Whether enough nodes are left for a validator that asks none at a private address. @param addressesOf - Of a host. */
export async function checkLookups(
  nodes: readonly Peer[],
  trustRule: TrustRule | null,
  addressesOf: typeof resolve = resolve,
): Promise<Check> {
  const asked = nodes.filter(({ name }) => isTrusted(trustRule, name))
  const isPublic = async (url: string) =>
    parseNodeUrl(url, false) !== undefined &&
    (await addressesOf(new URL(url).hostname)).every(isPublicAddress)
  const found = await Promise.all(
    asked.map(async ({ name, url }) => ((await isPublic(url)) ? [] : [`${name} (${url})`])),
  )
  const refused = found.flat()
  if (refused.length === 0) return ok('lookups', `${asked.length} nodes may be asked`)
  const detail = `${refused.length} of ${asked.length} nodes may not be asked, as their addresses are private: ${refused.join(', ')}`
  const advice = 'Set QS_ALLOW_PRIVATE_ADDRESSES=1 if this is their network'
  const needed = trustRule?.threshold ?? maxFaulty(nodes.length) + 1
  return asked.length - refused.length < needed
    ? failed('lookups', `${detail}. Lookups need ${needed}, and end with NOT_ENOUGH_NODES`, advice)
    : warning('lookups', detail, advice)
}

/** The addresses of a host; none if it has none, as the check of peers then reports. */
async function resolve(host: string): Promise<readonly string[]> {
  const found = await lookup(host.replace(/^\[|\]$/g, ''), { all: true }).catch(() => [])
  return found.map(({ address }) => address)
}

/** The ports of the other engines, which no other check reaches. */
export async function checkEngines(members: readonly MemberFile[], own: string): Promise<Check> {
  const others = members.flatMap(({ name, role, engineAddress }) =>
    role !== 'super-validator' || name === own || engineAddress === null
      ? []
      : [{ name, engineAddress }],
  )
  const answers = await Promise.all(
    others.map(async ({ name, engineAddress }) => {
      const socket = connect(parseAddress(engineAddress))
      try {
        await once(socket, 'connect', { signal: AbortSignal.timeout(ANSWER_MS_MAX) })
        return []
      } catch (error) {
        const isLate = (error as Error).name === 'AbortError'
        return [`${name} at ${engineAddress}: ${isLate ? TIMEOUT : describeFailure(error)}`]
      } finally {
        socket.destroy()
      }
    }),
  )
  return checkAnswers('engines', {
    what: 'other engines',
    count: others.length,
    silent: answers.flat(),
    advice:
      'They may not run yet. If they do, check the firewalls (docs/operations.md, "The port of the engine")',
  })
}

/** Whether the synchronizer that orders alone lets this operator follow the log. */
export async function checkLog(
  config: Pick<ScanConfig, 'log' | 'connections'>,
  clock: Clock,
): Promise<Check> {
  const { url } = config.log
  try {
    await using client = createLogClient(readLogClientOptions(config, { clock }))
    const bound = { clock, timeoutMs: ANSWER_MS_MAX }
    await withTimeout(
      bound,
      (signal) => client.open({ from: 1, signal }),
      () => {
        throw new Error(TIMEOUT)
      },
    )
    return ok('synchronizer', `${url} serves the log`)
  } catch (error) {
    const { code, message } = error as ScanError
    if (code === 'OFFSET_PRUNED') return ok('synchronizer', `${url} serves the log`)
    return code === 'UNAUTHENTICATED'
      ? warning(
          'synchronizer',
          `${url} refuses the token or certificate of this operator`,
          'Ask its operator to add the token (docs/operations.md, "Tokens and client certificates")',
        )
      : warning('synchronizer', `${url}: ${message}`, 'It may not run yet, or check QS_LOG')
  }
}

/** Who signs the states of the ledger. */
export function checkVotes({ states, offset }: SignedStates): Check {
  const compare =
    'Compare the replicas with `quorumscan check` (docs/operations.md, "Running a super-validator")'
  if (offset === null)
    return failed('votes', 'no node answers with a state that it signed', compare)
  const absent = states.filter(({ state }) => state === null)
  const signing = states.filter(({ state }) => state !== null).map(({ node }) => node)
  const roots = new Set(states.flatMap(({ state }) => state?.stateRoot ?? []))
  const missing = absent.map(
    ({ node, reason }) => `${node} is absent (${wordOf(reason ?? 'lags')})`,
  )
  const detail = [`offset ${offset} is signed by ${signing.join(', ')}`, ...missing].join('; ')
  if (roots.size > 1) return failed('votes', `${detail}. The states differ`, compare)
  if (absent.length === 0) return ok('votes', detail)
  const advice = 'Ask the operators of those that are absent for the output of `quorumscan status`'
  return absent.length > maxFaulty(states.length)
    ? failed('votes', `${detail}. Too few are left to confirm registrations`, advice)
    : warning('votes', detail, advice)
}

/** Whether the issuer of the tokens of users answers. */
export async function checkIssuer(url: string, fetch: typeof globalThis.fetch): Promise<Check> {
  const { status, reason, body } = await ask(url, { timeoutMs: ANSWER_MS_MAX, fetch })
  if (status === 200) return ok('token issuer', 'it answers')
  const why = status === null ? wordOf(reason) : describeRefusal(status, body)
  return warning(
    'token issuer',
    `${url}: ${why}`,
    'Without it, users are refused. Check QS_JWKS_URL',
  )
}
