/**
 * The beginning of a log that was trimmed: what the first group that is left goes on from. It is written before
 * anything is taken out, so that a log whose beginning was lost is told from one that begins later.
 */
import type { Offset } from '@quorumscan/model'
import { LogGroupError } from './group.ts'

/** The end of what is not there any more. */
export type LogStart = {
  readonly offset: Offset
  /** Of the group that ended there; hex. */
  readonly hash: string
}

export function encodeLogStart({ offset, hash }: LogStart): string {
  return `${offset} ${hash}`
}

/** @throws {LogGroupError} `malformed` if nobody wrote it who trims. */
export function decodeLogStart(text: string): LogStart {
  const [, offset, hash] = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(text) ?? []
  if (offset === undefined || hash === undefined)
    throw new LogGroupError('malformed', 'where the log begins is not written as it should be')
  return { offset: Number(offset), hash }
}
