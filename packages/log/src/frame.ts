/**
 * The stream of groups to followers: a sequence of frames, integers big-endian.
 *
 * u64 offset ‖ u32 length of the group ‖ u8 length of the signature ‖ signature ‖ group.
 * A frame without a group reports that the log has reached `offset`: at the beginning of a stream, and as a
 * heartbeat.
 */
import { splitFrames } from '@quorumscan/base'
import type { Offset } from '@quorumscan/model'
import { GROUP_BYTES_MAX } from './entry-queue.ts'
import { LogGroupError, type SignedGroup } from './group.ts'

export type Frame = {
  /** The last offset of the group; without one, of the log. */
  readonly offset: Offset
  /** Unverified. */
  readonly group: Pick<SignedGroup, 'bytes' | 'signature'> | null
}

const OFFSET_BYTES = 8
const HEADER_BYTES = OFFSET_BYTES + 4 + 1

export function encodeFrame({ offset, group }: Frame): Uint8Array {
  const bytes = group?.bytes ?? new Uint8Array()
  const signature = group?.signature ?? new Uint8Array()
  const frame = new Uint8Array(HEADER_BYTES + signature.byteLength + bytes.byteLength)
  const view = new DataView(frame.buffer)
  view.setBigUint64(0, BigInt(offset))
  view.setUint32(OFFSET_BYTES, bytes.byteLength)
  view.setUint8(HEADER_BYTES - 1, signature.byteLength)
  frame.set(signature, HEADER_BYTES)
  frame.set(bytes, HEADER_BYTES + signature.byteLength)
  return frame
}

/** Reassembles frames from pieces that were cut anywhere. It buffers one frame at most, which `GROUP_BYTES_MAX` bounds. */
export function createFrameDecoder() {
  const splitter = splitFrames(frameBytesOf)
  return {
    /**
     * The frames that these bytes complete. Their bytes are views of the input.
     *
     * @throws {LogGroupError} `malformed`, after the frames before it, for a frame that is longer than any group.
     */
    *add(piece: Uint8Array): Generator<Frame> {
      for (const frame of splitter.add(piece)) yield frameOf(frame)
    },
  }
}

/** The length of the first frame; at least the header while that is incomplete. */
function frameBytesOf(bytes: Uint8Array): number {
  if (bytes.byteLength < HEADER_BYTES) return HEADER_BYTES
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES)
  const groupBytes = view.getUint32(OFFSET_BYTES)
  if (groupBytes > GROUP_BYTES_MAX)
    throw new LogGroupError('malformed', `a frame announces a group of ${groupBytes} bytes`)
  return HEADER_BYTES + view.getUint8(HEADER_BYTES - 1) + groupBytes
}

function frameOf(bytes: Uint8Array): Frame {
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES)
  const offset = Number(view.getBigUint64(0))
  const groupAt = HEADER_BYTES + view.getUint8(HEADER_BYTES - 1)
  if (groupAt === bytes.byteLength) return { offset, group: null }
  // Plain arrays: a Buffer would be passed on as a Buffer.
  const part = (from: number, to: number) =>
    new Uint8Array(bytes.buffer, bytes.byteOffset + from, to - from)
  const signature = part(HEADER_BYTES, groupAt)
  return { offset, group: { signature, bytes: part(groupAt, bytes.byteLength) } }
}
