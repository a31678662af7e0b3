/** Reads answers strictly, as RFC 9112 writes them. */

export type RawAnswer = { readonly status: number; readonly fields: ReadonlyMap<string, string> }

/**
 * The answers on a connection, in their order.
 *
 * @param isHead - Whether the request of each answer was HEAD.
 * @throws {SyntaxError} If the bytes are not answers alone.
 */
export function readAnswers(bytes: string, isHead: (index: number) => boolean): RawAnswer[] {
  const answers: RawAnswer[] = []
  let index = 0
  for (let rest = bytes; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n')
    const [status = '', ...headers] = rest.slice(0, end).split('\r\n')
    const [, code] = /^HTTP\/1\.1 ([1-5][0-9]{2}) [\t -~]*$/.exec(status) ?? []
    if (end < 0 || code === undefined) throw new SyntaxError(`no answer: ${rest.slice(0, 100)}`)
    const fields = new Map<string, string>()
    for (const header of headers) {
      const [, name, value] =
        /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\t -~\x80-\xff]*)$/.exec(header) ?? []
      if (name === undefined) throw new SyntaxError(`no field: ${header}`)
      const key = name.toLowerCase()
      if (['content-length', 'transfer-encoding', 'date'].includes(key) && fields.has(key))
        throw new SyntaxError(`two fields ${key}`)
      fields.set(key, value ?? '')
    }
    rest = rest.slice(end + 4)
    answers.push({ status: Number(code), fields })
    if (code.startsWith('1')) continue
    const hasBody = !isHead(index++) && !['204', '304'].includes(code)
    if (hasBody) rest = rest.slice(bodyLength(rest, fields))
  }
  return answers
}

function bodyLength(rest: string, fields: ReadonlyMap<string, string>): number {
  const length = fields.get('content-length')
  if (fields.get('transfer-encoding') === 'chunked') {
    if (length !== undefined) throw new SyntaxError('a length and chunks')
    let at = 0
    for (;;) {
      const [line, size] = /^([0-9a-f]+)\r\n/i.exec(rest.slice(at)) ?? []
      if (line === undefined || size === undefined) throw new SyntaxError('no chunk')
      const end = at + line.length + Number.parseInt(size, 16)
      if (rest.slice(end, end + 2) !== '\r\n') throw new SyntaxError('a chunk without its end')
      at = end + 2
      if (/^0+$/.test(size)) return at
    }
  }
  if (length === undefined || !/^[0-9]+$/.test(length))
    throw new SyntaxError('a body without a length')
  if (Number(length) > rest.length) throw new SyntaxError('a body that is cut off')
  return Number(length)
}
