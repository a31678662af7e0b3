/** Frames made from RFC 6455: no registry that can be reached has Autobahn, whose clients expect an echo. */
import { randomBytes } from 'node:crypto'

const [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG] = [0, 1, 2, 8, 9, 10]

type Frame = {
  readonly opcode: number
  readonly payload?: string | Uint8Array
  readonly isFinal?: boolean
  readonly isMasked?: boolean
  /** Bits 4 to 6 of the first byte. */
  readonly reserved?: number
  /** In place of the shortest form. */
  readonly lengthBytes?: 0 | 2 | 8
}

export function frameOf({
  opcode,
  payload = '',
  isFinal = true,
  isMasked = true,
  reserved = 0,
  lengthBytes,
}: Frame): Buffer {
  const bytes = Buffer.from(payload)
  const size = lengthBytes ?? (bytes.length < 126 ? 0 : bytes.length < 65_536 ? 2 : 8)
  const head = Buffer.alloc(2 + size)
  head[0] = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode
  head[1] = (isMasked ? 0x80 : 0) | (size === 0 ? bytes.length : size === 2 ? 126 : 127)
  if (size === 2) head.writeUInt16BE(bytes.length, 2)
  if (size === 8) head.writeBigUInt64BE(BigInt(bytes.length), 2)
  if (!isMasked) return Buffer.concat([head, bytes])
  const mask = randomBytes(4)
  return Buffer.concat([head, mask, bytes.map((byte, at) => byte ^ (mask[at % 4] as number))])
}

export type SocketCase = {
  readonly name: string
  readonly frames: readonly Buffer[]
  /** The answers of the server: `text`, `pong x`, `close 1002`, in their order. */
  readonly expected: RegExp
}

/** A close frame. */
export const closeOf = (code: number, reason: string | Uint8Array = '') =>
  frameOf({
    opcode: CLOSE,
    payload: Buffer.concat([Buffer.of(code >> 8, code & 0xff), Buffer.from(reason)]),
  })

/** @param request - A first frame that the server answers with a text, and with more or nothing after it. */
export function socketCases(request: string): readonly SocketCase[] {
  const whole = frameOf({ opcode: TEXT, payload: request })
  const cases: SocketCase[] = []
  const add = (name: string, expected: RegExp, ...frames: readonly Buffer[]) =>
    cases.push({ name, frames, expected })
  const part = (opcode: number, payload: string | Uint8Array, isFinal = false) =>
    frameOf({ opcode, payload, isFinal })
  const [first, second] = [request.slice(0, 1), request.slice(1)]

  // Valid, by RFC 6455 §5.4, §5.5. The server answers as to the whole frame, and then to the close of the client.
  const served = /^text (pong \S* )*(text )*close 1000$/
  add('as usual', served, whole)
  add(
    'a frame with a longer form of its length',
    /^(text (text )*close 1000|close 1002)$/,
    frameOf({ opcode: TEXT, payload: request, lengthBytes: 8 }),
  )
  add('two fragments', served, part(TEXT, first), part(CONTINUATION, second, true))
  add('an empty first fragment', served, part(TEXT, ''), part(CONTINUATION, request, true))
  add('an empty last fragment', served, part(TEXT, request), part(CONTINUATION, '', true))
  add('a pong that nothing asked for', served, frameOf({ opcode: PONG, payload: 'x' }), whole)
  for (const payload of ['', 'x', 'x'.repeat(125)]) {
    const ping = frameOf({ opcode: PING, payload })
    add(
      `a ping of ${payload.length} bytes`,
      new RegExp(`^pong ${payload} text (text )*close 1000$`),
      ping,
      whole,
    )
    add(
      `a ping of ${payload.length} bytes between fragments`,
      new RegExp(`^pong ${payload} text (text )*close 1000$`),
      part(TEXT, first),
      ping,
      part(CONTINUATION, second, true),
    )
  }
  for (const code of [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999])
    add(`close ${code}`, new RegExp(`^close ${code}$`), closeOf(code))
  add('close with a reason', /^close 1000$/, closeOf(1000, 'x'.repeat(123)))
  add('close without a code', /^close( 1005)?$/, frameOf({ opcode: CLOSE }))

  // Violations of RFC 6455 §5.1, §5.2, §5.4, §5.5, §7.4, §8.1.
  const protocol = /^(pong \S* )*close 1002$/
  add(
    'a frame without a mask',
    protocol,
    frameOf({ opcode: TEXT, payload: request, isMasked: false }),
  )
  add('a ping without a mask', protocol, frameOf({ opcode: PING, isMasked: false }))
  for (const reserved of [1, 2, 4, 7]) {
    add(
      `reserved bits ${reserved}`,
      protocol,
      frameOf({ opcode: TEXT, payload: request, reserved }),
    )
    add(`reserved bits ${reserved} of a ping`, protocol, frameOf({ opcode: PING, reserved }))
  }
  for (const opcode of [3, 4, 5, 6, 7, 11, 12, 13, 14, 15])
    add(`the opcode ${opcode}`, protocol, frameOf({ opcode, payload: 'x' }))
  for (const opcode of [CLOSE, PING, PONG]) {
    add(`a fragment of the opcode ${opcode}`, protocol, frameOf({ opcode, isFinal: false }))
    add(
      `126 bytes of the opcode ${opcode}`,
      protocol,
      frameOf({ opcode, payload: Buffer.alloc(126, 0x78) }),
    )
  }
  add('a continuation of nothing', protocol, part(CONTINUATION, request, true))
  add('a fragment of nothing', protocol, part(CONTINUATION, request))
  add('a text between fragments', protocol, part(TEXT, first), whole)
  add(
    'a binary frame between fragments',
    protocol,
    part(TEXT, first),
    frameOf({ opcode: BINARY, payload: 'x' }),
  )
  add(
    'a length of more than 63 bits',
    /^close 100[29]$/,
    Buffer.concat([Buffer.of(0x81, 0xff), Buffer.alloc(8, 0xff), Buffer.alloc(4)]),
  )
  add(
    'a frame that is too long',
    /^close 1009$/,
    Buffer.concat([Buffer.of(0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0), Buffer.alloc(4)]),
  )
  for (const code of [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535])
    add(`close ${code}`, protocol, closeOf(code))
  add('close with half of a code', protocol, frameOf({ opcode: CLOSE, payload: Buffer.of(3) }))

  // UTF-8, by RFC 6455 §5.6, §8.1.
  for (const hex of [
    'ff',
    'c0af',
    'e080af',
    'f08080af',
    'eda080',
    'edbfbf',
    'f4908080',
    'f8888080',
    'ce',
    'e282',
    'f09f98',
    '80',
    'c328',
    'cebae1bdb9cf83cebcceb5eda080656469746564',
  ])
    add(
      `a text with the bytes ${hex}`,
      /^close 1007$/,
      frameOf({ opcode: TEXT, payload: Buffer.from(hex, 'hex') }),
    )
  add(
    'a character that is cut off at the end of a fragmented text',
    /^close 1007$/,
    part(TEXT, Buffer.from('22f09f', 'hex')),
    part(CONTINUATION, Buffer.from('98', 'hex'), true),
  )
  add(
    'close with a reason that is not UTF-8',
    /^close 1007$/,
    closeOf(1000, Buffer.from('eda080', 'hex')),
  )
  return cases
}

/** Reads the frames of a server, which are not masked (RFC 6455 §5.1). @throws {SyntaxError} */
export function readFrames(bytes: Buffer): string[] {
  const found: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const [first = 0, second = 0] = [bytes[at], bytes[at + 1]]
    if ((first & 0xf0) !== 0x80 || second > 127)
      throw new SyntaxError(`the frame ${first} ${second}`)
    const size =
      second < 126
        ? second
        : second === 126
          ? bytes.readUInt16BE(at + 2)
          : Number(bytes.readBigUInt64BE(at + 2))
    if (second === 126 && size < 126) throw new SyntaxError('a longer form of a length')
    const start = at + 2 + (second < 126 ? 0 : second === 126 ? 2 : 8)
    const payload = bytes.subarray(start, start + size)
    if (payload.length < size) throw new SyntaxError('a frame that is cut off')
    at = start + size
    const opcode = first & 0x0f
    if (opcode === CLOSE) found.push(size === 0 ? 'close' : `close ${payload.readUInt16BE(0)}`)
    else if (opcode === TEXT) {
      JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))
      found.push('text')
    } else found.push(`${opcode === PONG ? 'pong' : opcode === PING ? 'ping' : opcode} ${payload}`)
  }
  return found
}
