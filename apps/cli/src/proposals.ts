/** What was proposed and not decided, and the version of the protocol, in words. Pure. */

import type { Change, Proposals, Protocol } from '@quorumscan/operator'
import { inForceToWire } from '@quorumscan/operator'
import { formatInstant as formatTime } from '@quorumscan/verifier'
import { formatConfig } from './config.ts'
import { printable } from './text.ts'

export function formatProposals({ needed, pending, protocol }: Proposals): string {
  const lines = pending.flatMap(({ change, confirmedBy, since }) => [
    `${printable(confirmedBy.join(', '))} confirmed since ${printable(since)}, ${confirmedBy.length} of ${needed}:`,
    ...describeChange(change).map((line) => `  ${line}`),
  ])
  return [
    ...(lines.length === 0 ? ['Nothing waits for confirmations.'] : lines),
    formatProtocol(protocol),
  ].join('\n')
}

export function formatProtocol({ version, newestKnown, next }: Protocol): string {
  const known =
    newestKnown === version
      ? 'the newest that this node knows'
      : newestKnown > version
        ? `this node knows ${newestKnown}, too`
        : `this node knows none beyond ${newestKnown}: it needs newer software`
  const coming =
    next === null ? '' : `\nVersion ${next.version} holds from ${printable(next.notBefore)} on.`
  return `Version ${version} of the protocol holds; ${known}.${coming}`
}

/** As JSON, which has no bigints. */
export function proposalsJson({ needed, pending, protocol }: Proposals) {
  return {
    needed,
    pending: pending.map(({ change, ...rest }) => ({ ...rest, change: changeJson(change) })),
    protocol,
  }
}

function describeChange(change: Change): readonly string[] {
  if (change.tag === 'SetProtocolVersion') {
    const { version, notBefore } = change.value
    const when = notBefore === null ? 'as soon as enough have voted' : formatTime(notBefore)
    return [`version ${version} of the protocol, from: ${when}`]
  }
  if (change.tag === 'SetAnsConfig') return formatConfig(rulesOf(change)).split('\n').slice(0, -1)
  return []
}

function changeJson(change: Change) {
  if (change.tag === 'SetProtocolVersion') {
    const { version, notBefore } = change.value
    return {
      protocolVersion: version,
      notBefore: notBefore === null ? null : formatTime(notBefore),
    }
  }
  return change.tag === 'SetAnsConfig' ? rulesOf(change).config : null
}

function rulesOf({ value }: Extract<Change, { tag: 'SetAnsConfig' }>) {
  return inForceToWire({ contractId: value.ansRules, config: value.config })
}
