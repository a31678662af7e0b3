import { readVarint } from '@quorumscan/verifier'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitFrames } from './split-frames.ts'

const FRAME_BYTES_MAX = 40
/** One byte that says how long the content is. */
const frameBytesOf = (bytes: Uint8Array) => {
  if (bytes.byteLength === 0) return 1
  const needed = 1 + (bytes[0] ?? 0)
  if (needed > FRAME_BYTES_MAX) throw new RangeError('too long')
  return needed
}
const frame = (content: Uint8Array) => Uint8Array.of(content.byteLength, ...content)

describe('splitFrames', () => {
  it('yields the frames of a stream, wherever it is cut', () => {
    const contents = fc.array(fc.uint8Array({ maxLength: FRAME_BYTES_MAX - 1 }))
    fc.assert(
      fc.property(contents, fc.infiniteStream(fc.nat({ max: 9 })), (sent, cuts) => {
        const frames = sent.map(frame)
        const stream = Uint8Array.from(frames.flatMap((one) => [...one]))
        const splitter = splitFrames(frameBytesOf)
        const got: Uint8Array[] = []
        for (let at = 0; at < stream.byteLength; ) {
          const length = Number(cuts.next().value)
          got.push(...splitter.add(stream.subarray(at, at + length)))
          at += length
        }
        expect(got).toEqual(frames)
        expect(splitter.heldBytes()).toBe(0)
      }),
    )
  })

  it('yields the frames before a refused frame', () => {
    const splitter = splitFrames(frameBytesOf)
    const got: Uint8Array[] = []
    const add = () => {
      for (const one of splitter.add(Uint8Array.of(1, 7, 255, 0))) got.push(one)
    }
    expect(add).toThrow('too long')
    expect(got).toEqual([Uint8Array.of(1, 7)])
  })

  it('reads a frame length again only when enough bytes have arrived', () => {
    let looks = 0
    const splitter = splitFrames((bytes) => {
      looks++
      return frameBytesOf(bytes)
    })
    expect([...splitter.add(Uint8Array.of(30))]).toEqual([])
    for (let index = 0; index < 29; index++) expect([...splitter.add(Uint8Array.of(0))]).toEqual([])
    expect(looks).toBe(1)
    expect(splitter.heldBytes()).toBe(30)
    expect([...splitter.add(Uint8Array.of(0))]).toHaveLength(1)
  })
})

describe('readVarint', () => {
  it('returns a number and its end, or null if it is incomplete', () => {
    const rows: [number[], { value: number; end: number } | null][] = [
      [[], null],
      [[0x05, 0xff], { value: 5, end: 1 }],
      [[0x80, 0x01], { value: 128, end: 2 }],
      [[0xff, 0xff, 0xff, 0xff, 0x0f], { value: 2 ** 32 - 1, end: 5 }],
      [[0x80, 0x80], null],
    ]
    for (const [bytes, read] of rows) expect(readVarint(Uint8Array.from(bytes), 5)).toEqual(read)
    expect(() => readVarint(new Uint8Array(5).fill(0x80), 5)).toThrow(RangeError)
  })
})
