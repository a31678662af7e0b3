/**
 * What the engine writes, as lines of the log of this process. The engine reports peers that are down at each attempt to
 * reach them: here such a peer is one line a minute.
 */
import type { Clock } from '@quorumscan/base'
import { createRateLimitedLog, type Logger } from '@quorumscan/runtime'

/** A shorter period would hide other lines, a longer one would let an operator believe that it is over. */
const PERIOD_MS = 60_000
/** `198.51.100.2:26656` or `[2001:db8::2]:26656` or `sv-2.example:26656`. */
const ADDRESS = /(?:\[[0-9a-f:.]+\]|[\w.-]+):[0-9]{1,5}(?=[\s}:]|$)/i
/** Messages of the engine that are about one peer, with or without naming it. */
const ABOUT_PEER = /\b(?:peer|dial|connect)/i

/** What an engine reports while it stops. A service manager signals it together with this process, which then knows nothing yet. */
const OF_A_STOP = /already stopped|use of closed network connection|as transport is closed/

type EngineLine = Readonly<Record<string, unknown>> & { readonly _msg: string }

/**
 * Returns what receives the lines of the engine.
 *
 * Of an engine that is being stopped, what breaks is expected, and logged at `debug`.
 */
export function createEngineLog(options: {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>
}): (line: string, isStopping: boolean) => void {
  const { clock, logger } = options
  const lines = createRateLimitedLog({ clock, perSubjectMs: PERIOD_MS })
  return (line, isStopping) => {
    if (line.trim() === '') return
    const parsed = parse(line)
    // Such as the trace of a crash, of which each line counts.
    if (parsed === null) return void logger[isStopping ? 'debug' : 'error'](`engine: ${line}`)
    const { _msg, level, ts: _, ...fields } = parsed
    const peer = peerOf(parsed)
    const as = levelOf(String(level), {
      isStopping: isStopping || OF_A_STOP.test(line),
      isAboutPeer: peer !== null,
    })
    // Redials of a peer differ in nothing that an operator needs.
    lines.write(peer ?? `${parsed['module']} ${_msg}`, (suppressed) =>
      logger[as]({ ...fields, ...suppressed }, `engine: ${_msg}`),
    )
  }
}

function levelOf(
  level: string,
  { isStopping, isAboutPeer }: { readonly isStopping: boolean; readonly isAboutPeer: boolean },
) {
  if (isStopping) return 'debug'
  if (level !== 'error') return level === 'info' ? 'info' : 'debug'
  return isAboutPeer ? 'warn' : 'error'
}

/** The peer that a line is about, as well as the line names it; null: it is about no peer. */
function peerOf({ _msg, ...fields }: EngineLine): string | null {
  const named = [fields['peer'], fields['addr'], fields['address'], fields['err']].map(String)
  if (fields['peer'] === undefined && !ABOUT_PEER.test(_msg)) return null
  const address = named.flatMap((text) => ADDRESS.exec(text)?.[0] ?? [])[0]
  return `peer ${address ?? fields['peer'] ?? ''}`
}

function parse(line: string): EngineLine | null {
  try {
    const parsed = JSON.parse(line)
    return typeof parsed?._msg === 'string' ? parsed : null
  } catch {
    return null
  }
}
