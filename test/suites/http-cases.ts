/** Messages made from RFC 9110 and RFC 9112: no registry has a suite of them. */

/** What a server must do with a message, after which a last request follows on the same connection. */
export type HttpCase = {
  readonly name: string
  readonly bytes: string
  /**
   * Statuses of all answers up to the end of the connection, as a regular expression. The last request is ok with
   * 200: its `200` shows that the server found the end of the message.
   */
  readonly expected: RegExp
  /** A client must send nothing more on the connection (RFC 9112 §9.6). */
  readonly isLast?: boolean
}

type Paths = {
  /** Answered with 200. */
  readonly getPath: string
  /** Takes a body in JSON. */
  readonly postPath: string
}

/** Of a message whose end is in doubt, the server answers nothing after it, and closes. */
const REFUSED = /^4\d\d$/
const REFUSED_OR_501 = /^(4\d\d|501|505)$/

/** The request after each case. */
export const lastRequest = ({ getPath }: Paths) =>
  `GET ${getPath} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`

const lines = (...all: readonly string[]) => all.map((line) => `${line}\r\n`).join('')

export function httpCases({ getPath, postPath }: Paths): readonly HttpCase[] {
  const get = `GET ${getPath} HTTP/1.1`
  const post = `POST ${postPath} HTTP/1.1`
  const type = 'content-type: application/json'
  const cases: HttpCase[] = []
  const add = (name: string, expected: RegExp, ...bytes: readonly string[]) =>
    cases.push({ name, expected, bytes: bytes.join('') })
  const addLast = (name: string, ...bytes: readonly string[]) =>
    cases.push({ name, expected: /^200$/, bytes: bytes.join(''), isLast: true })
  /** A request with this line in its head. */
  const header = (name: string, expected: RegExp, line: string) =>
    add(name, expected, lines(get, 'host: a', line, ''))
  /** With a body that is a request itself, should the server misread where it ends. */
  const hidden = lines(`GET ${getPath}?hidden HTTP/1.1`, 'host: a', '')
  const body = (name: string, expected: RegExp, headers: readonly string[], bytes: string) =>
    add(name, expected, lines(post, 'host: a', type, ...headers, ''), bytes)

  // Well-formed: RFC 9112 §2, §3, §5; RFC 9110 §5, §9.
  const ok = /^200 200$/
  add('as usual', ok, lines(get, 'host: a', ''))
  add('names of fields in any case', ok, lines(get, 'HoSt: a', 'ACCEPT: */*', ''))
  add('white space around a value', ok, lines(get, 'host: \t a \t', ''))
  add('no white space before a value', ok, lines(get, 'host:a', ''))
  add('an empty value', ok, lines(get, 'host: a', 'accept:', ''))
  add('bytes beyond ASCII in a value', ok, lines(get, 'host: a', 'x-other: \xe4\xff', ''))
  add('an empty line before the request', ok, '\r\n', lines(get, 'host: a', ''))
  add('the absolute form', ok, lines(`GET http://a${getPath} HTTP/1.1`, 'host: a', ''))
  add('a host with a port', ok, lines(get, 'host: a:80', ''))
  add('an address of IPv6 as host', ok, lines(get, 'host: [::1]:80', ''))
  add('HEAD', /^200 200$/, lines(`HEAD ${getPath} HTTP/1.1`, 'host: a', ''))
  add('three at once', /^200 200 200 200$/, lines(get, 'host: a', '').repeat(3))
  add(
    'HTTP/1.0 that stays open',
    /^200( 200)?$/,
    lines(`GET ${getPath} HTTP/1.0`, 'connection: keep-alive', ''),
  )
  addLast('HTTP/1.0', lines(`GET ${getPath} HTTP/1.0`, ''))
  addLast(
    'HTTP/1.1 that closes, and an empty line',
    lines(get, 'host: a', 'connection: close', '', ''),
  )
  addLast('HTTP/1.1 that closes', lines(get, 'host: a', 'connection: close', ''))
  addLast(
    'HTTP/1.1 that closes, among other options',
    lines(get, 'host: a', 'connection: x, Close', ''),
  )

  // Bodies: RFC 9112 §6, §7. The answer is that of the route to `{}` or to what is no JSON.
  /** After chunks a server may close the connection. */
  const chunked = /^200( 200)?$/
  body('content-length', ok, ['content-length: 2'], '{}')
  body('content-length of 0', /^4\d\d( 200)?$/, ['content-length: 0'], '')
  body('chunked', chunked, ['transfer-encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n')
  body('chunked, in capitals', chunked, ['Transfer-Encoding: CHUNKED'], '2\r\n{}\r\n0\r\n\r\n')
  body('chunked, in two', chunked, ['transfer-encoding: chunked'], '1\r\n{\r\n1\r\n}\r\n0\r\n\r\n')
  body(
    'a size with zeros before it',
    chunked,
    ['transfer-encoding: chunked'],
    '0002\r\n{}\r\n000\r\n\r\n',
  )
  body(
    'a size in hex',
    chunked,
    ['transfer-encoding: chunked'],
    `A\r\n${'{}'.padEnd(10)}\r\n0\r\n\r\n`,
  )
  body(
    'an extension of a chunk',
    chunked,
    ['transfer-encoding: chunked'],
    '2;a=b;c="d"\r\n{}\r\n0\r\n\r\n',
  )
  body(
    'trailers',
    chunked,
    ['transfer-encoding: chunked', 'trailer: x-a'],
    '2\r\n{}\r\n0\r\nx-a: b\r\n\r\n',
  )
  body(
    'a length in the trailers',
    /^(200|4\d\d)( 200)?$/,
    ['transfer-encoding: chunked'],
    '2\r\n{}\r\n0\r\ncontent-length: 99\r\n\r\n',
  )
  body(
    'a request inside of the body',
    /^4\d\d( 200)?$/,
    [`content-length: ${hidden.length}`],
    hidden,
  )
  body(
    'a request inside of a chunk',
    /^4\d\d( 200)?$/,
    ['transfer-encoding: chunked'],
    `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`,
  )
  body('an expectation', /^(100 )?200 200$/, ['content-length: 2', 'expect: 100-continue'], '{}')
  add(
    'GET with a body',
    /^(200|400) 200$/,
    lines(get, 'host: a', `content-length: ${hidden.length}`, ''),
    hidden,
  )

  // Where a message ends: RFC 9112 §6.3, §11.2. Two readers must not find two ends.
  for (const length of [
    '-2',
    '+2',
    '0x2',
    '2 ',
    ' 2',
    '2,',
    '2 2',
    '2;',
    '2.0',
    '2e0',
    'two',
    '',
    '18446744073709551618',
    '9'.repeat(30),
  ]) {
    const isSpace = length.trim() === '2' // White space around a value is none of it.
    body(
      `content-length ${JSON.stringify(length)}`,
      isSpace ? ok : REFUSED,
      [`content-length: ${length}`],
      '{}',
    )
  }
  body('two lengths', REFUSED, ['content-length: 2', 'content-length: 3'], '{}')
  body('two equal lengths', /^(4\d\d|200 200)$/, ['content-length: 2', 'content-length: 2'], '{}')
  body('a list of lengths', REFUSED, ['content-length: 2, 3'], '{}')
  body('a list of equal lengths', /^(4\d\d|200 200)$/, ['content-length: 2, 2'], '{}')
  body(
    'a length and chunks',
    REFUSED,
    ['content-length: 4', 'transfer-encoding: chunked'],
    `0\r\n\r\n${hidden}`,
  )
  body(
    'chunks and a length',
    REFUSED,
    ['transfer-encoding: chunked', 'content-length: 4'],
    `0\r\n\r\n${hidden}`,
  )
  for (const coding of [
    'identity',
    'gzip',
    'xchunked',
    'chunked, identity',
    'chunked, gzip',
    '"chunked"',
    'chunked;',
    'chunkedx',
    '\x0bchunked',
    '',
  ])
    body(
      `transfer-encoding ${JSON.stringify(coding)}`,
      REFUSED_OR_501,
      [`transfer-encoding: ${coding}`],
      `0\r\n\r\n${hidden}`,
    )
  for (const coding of ['gzip, chunked', 'chunked, chunked', 'identity, chunked'])
    body(
      `transfer-encoding ${coding}`,
      REFUSED_OR_501,
      [`transfer-encoding: ${coding}`],
      '2\r\n{}\r\n0\r\n\r\n',
    )
  body(
    'two transfer-encodings',
    REFUSED_OR_501,
    ['transfer-encoding: chunked', 'transfer-encoding: identity'],
    `0\r\n\r\n${hidden}`,
  )
  body('white space before the colon of a length', REFUSED, ['content-length : 2'], '{}')
  body(
    'white space before the colon of chunks',
    REFUSED,
    ['transfer-encoding : chunked'],
    `0\r\n\r\n${hidden}`,
  )
  body(
    'a folded transfer-encoding',
    REFUSED_OR_501,
    ['transfer-encoding:', ' chunked'],
    `0\r\n\r\n${hidden}`,
  )
  for (const size of [
    '-2',
    '+2',
    '0x2',
    'g',
    ' 2',
    '2 2',
    '',
    '2_0',
    'FFFFFFFFFFFFFFFFF',
    '10000000000000002',
    ';a',
    '２',
  ])
    body(
      `a chunk of the size ${JSON.stringify(size)}`,
      REFUSED,
      ['transfer-encoding: chunked'],
      `${Buffer.from(size).toString('latin1')}\r\n{}\r\n0\r\n\r\n${hidden}`,
    )
  body(
    'a chunk longer than its size',
    REFUSED,
    ['transfer-encoding: chunked'],
    `1\r\n{}\r\n0\r\n\r\n${hidden}`,
  )
  body(
    'a chunk without its end of line',
    REFUSED,
    ['transfer-encoding: chunked'],
    `2\r\n{}0\r\n\r\n${hidden}`,
  )
  body(
    'a chunk that ends with a line feed',
    REFUSED,
    ['transfer-encoding: chunked'],
    `2\r\n{}\n0\r\n\r\n${hidden}`,
  )
  body(
    'a size that ends with a line feed',
    REFUSED,
    ['transfer-encoding: chunked'],
    `2\n{}\r\n0\r\n\r\n${hidden}`,
  )
  body(
    'an extension with a line feed',
    REFUSED,
    ['transfer-encoding: chunked'],
    `2;a\n{}\r\n0\r\n\r\n${hidden}`,
  )
  body(
    'a size with a carriage return alone',
    REFUSED,
    ['transfer-encoding: chunked'],
    `2\rx{}\r\n0\r\n\r\n${hidden}`,
  )

  // Heads: RFC 9112 §3.2, §5.1, §5.2; RFC 9110 §5.5.
  add('no host', REFUSED, lines(get, ''))
  add('two hosts', /^400( 200)?$/, lines(get, 'host: a', 'host: b', ''))
  add('two equal hosts', /^400( 200)?$/, lines(get, 'host: a', 'host: a', ''))
  for (const host of ['a b', 'a/b', 'a@b', 'a?b', 'a#b', 'a\\b', 'a:b', '[::1', 'a, b'])
    add(`the host ${host}`, /^400( 200)?$/, lines(get, `host: ${host}`, ''))
  header('a folded value', REFUSED, 'x-a: b\r\n c')
  header('a folded value, with a tab', REFUSED, 'x-a: b\r\n\tc')
  add('a folded first line', REFUSED, lines(get, ' host: a', 'host: a', ''))
  header('white space before a colon', REFUSED, 'x-a : b')
  header('a tab before a colon', REFUSED, 'x-a\t: b')
  header('a line without a colon', REFUSED, 'x-a')
  header('a line without a name', REFUSED, ': b')
  for (const character of ['\0', '\x01', '\x0b', '\x0c', '\x7f', '\r', '\n'])
    header(`${JSON.stringify(character)} in a value`, REFUSED, `x-a: b${character}c`)
  for (const character of [
    '\0',
    ' ',
    '"',
    '(',
    ')',
    ',',
    '/',
    ';',
    '<',
    '=',
    '@',
    '[',
    '{',
    '\xe4',
  ])
    header(`${JSON.stringify(character)} in a name`, REFUSED, `x${character}a: b`)
  add('lines that end with a line feed', /^(4\d\d|200 200)$/, `${get}\nhost: a\n\n`)
  add(
    'one line that ends with a line feed',
    /^(4\d\d|200 200)$/,
    `${get}\r\nhost: a\nx-a: b\r\n\r\n`,
  )
  add(
    'a head of more than 64 KiB',
    /^4\d\d$/,
    lines(get, 'host: a', `x-a: ${'b'.repeat(70_000)}`, ''),
  )
  add(
    'a target of more than 64 KiB',
    /^4\d\d$/,
    lines(`GET ${getPath}?${'b'.repeat(70_000)} HTTP/1.1`, 'host: a', ''),
  )

  // Request lines: RFC 9112 §3.
  for (const version of [
    'HTTP/2.0',
    'HTTP/0.9',
    'HTTP/1.10',
    'HTTP/1',
    'HTTP/11',
    'http/1.1',
    'HTTP /1.1',
    'HTTPS/1.1',
    'HTTP/1.1x',
    'HTTP/-1.1',
    'HTCPCP/1.0',
  ])
    add(`the version ${version}`, REFUSED_OR_501, lines(`GET ${getPath} ${version}`, 'host: a', ''))
  add('no version', REFUSED_OR_501, lines(`GET ${getPath}`, 'host: a', ''))
  add('no target', REFUSED, lines('GET HTTP/1.1', 'host: a', ''))
  add('white space in the target', REFUSED, lines(`GET ${getPath} x HTTP/1.1`, 'host: a', ''))
  add(
    'a target without a slash',
    REFUSED,
    lines(`GET ${getPath.slice(1) || 'x'} HTTP/1.1`, 'host: a', ''),
  )
  add('white space before the method', REFUSED, lines(` ${get}`, 'host: a', ''))
  for (const character of ['\0', '\x01', '\x7f', '\t', '\r', '\x0b'])
    add(
      `${JSON.stringify(character)} in the target`,
      REFUSED,
      lines(`GET ${getPath}?${character} HTTP/1.1`, 'host: a', ''),
    )
  for (const method of ['get', 'Get', 'GE T', 'G\x01T', 'G(T', 'GET,', 'G\xe4T', ''])
    add(
      `the method ${JSON.stringify(method)}`,
      /^(4\d\d|501)( 200)?$/,
      lines(`${method} ${getPath} HTTP/1.1`, 'host: a', ''),
    )

  // Methods: RFC 9110 §9, §15.5.6, §15.6.2.
  for (const method of [
    'PUT',
    'DELETE',
    'PATCH',
    'TRACE',
    'PROPFIND',
    'LINK',
    'PURGE',
    'SEARCH',
    'QUERY',
    'FOO',
  ])
    add(
      `the method ${method}`,
      /^(40[0145]|501)( 200)?$/,
      lines(`${method} ${getPath} HTTP/1.1`, 'host: a', 'content-length: 0', ''),
    )
  add('OPTIONS', /^(20[04]|40[45]) 200$/, lines(`OPTIONS ${getPath} HTTP/1.1`, 'host: a', ''))
  add('OPTIONS *', /^(20[04]|40[045])( 200)?$/, lines('OPTIONS * HTTP/1.1', 'host: a', ''))
  add('GET *', /^4\d\d( 200)?$/, lines('GET * HTTP/1.1', 'host: a', ''))
  add('CONNECT', /^(4\d\d|501)?$/, lines('CONNECT a:443 HTTP/1.1', 'host: a:443', ''))
  add('the greeting of HTTP/2', /^(4\d\d|505)?$/, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  add(
    'an offer of HTTP/2',
    /^200 200$/,
    lines(
      get,
      'host: a',
      'connection: upgrade, http2-settings',
      'upgrade: h2c',
      'http2-settings: AAMAAABkAAQAAP__',
      '',
    ),
  )
  add(
    'an unknown upgrade',
    /^200 200$/,
    lines(get, 'host: a', 'connection: upgrade', 'upgrade: x', ''),
  )
  add('a greeting of TLS', /^(4\d\d)?$/, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03')
  add('an answer', REFUSED, 'HTTP/1.1 200 OK\r\n\r\n')
  return cases
}
