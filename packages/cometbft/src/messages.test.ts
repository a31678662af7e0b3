import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMessageReader, encodeMessage } from './messages.ts'

const read = (chunks: readonly Uint8Array[], bytesMax?: number) => {
  const reader = createMessageReader(bytesMax)
  return chunks.flatMap((chunk) => reader(chunk)).map((message) => Uint8Array.from(message))
}

describe('messages', () => {
  it('are decoded unchanged, wherever the stream is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 10 }),
        fc.array(fc.nat(400), { maxLength: 30 }),
        (messages, cuts) => {
          let rest: Uint8Array = Buffer.concat(messages.map(encodeMessage))
          const chunks = cuts.map((size) => {
            const chunk = rest.subarray(0, size)
            rest = rest.subarray(size)
            return chunk
          })
          expect(read([...chunks, rest])).toEqual(messages)
        },
      ),
    )
  })

  it('have a size limit, which is checked before the message has arrived', () => {
    expect(read([encodeMessage(new Uint8Array(200))], 200)).toHaveLength(1)
    const start = encodeMessage(new Uint8Array(201)).subarray(0, 2)
    expect(() => read([start], 200)).toThrow(RangeError)
  })

  it('are refused if their length prefix does not end', () => {
    expect(() => read([new Uint8Array(4).fill(0xff)])).not.toThrow()
    expect(() => read([new Uint8Array(5).fill(0xff)])).toThrow(RangeError)
  })
})
