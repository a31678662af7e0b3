/**
 * Tokens that a process and its callers agree on, for a higher rate than that of anonymous clients (D-33). They authorize
 * nothing else. Files have one token per line; empty lines and `#` comments are skipped.
 */

/** Carries the token; never logged. */
export const PEER_TOKEN_HEADER = 'x-peer-token'
/** At least 128 bits in base64url; short enough for a header. */
const PEER_TOKEN = /^[A-Za-z0-9_-]{22,128}$/

export function isPeerToken(text: string): boolean {
  return PEER_TOKEN.test(text)
}

/**
 * The tokens of callers, in a file of the called process: `<token>` lines.
 *
 * @throws {RangeError} Which names the first line that is not a token: 22 to 128 characters of base64url.
 */
export function parsePeerTokens(text: string): string[] {
  const expected = '22 to 128 of A-Z a-z 0-9 _ -'
  return parseLines(text, (line) => (isPeerToken(line) ? line : null), expected)
}

/**
 * The tokens that a caller has with others: `<origin> <token>` lines, such as `https://sv-1.example <token>`.
 *
 * @throws {RangeError} Which names the first line that is not of this form.
 */
export function parseOriginTokens(text: string): ReadonlyMap<string, string> {
  const pairs = parseLines(
    text,
    (line) => {
      const [url = '', token = '', ...rest] = line.split(/ +/)
      const isPair = rest.length === 0 && URL.canParse(url) && isPeerToken(token)
      return isPair ? ([new URL(url).origin, token] as const) : null
    },
    '<origin> <token>',
  )
  return new Map(pairs)
}

function parseLines<Value>(text: string, parse: (line: string) => Value | null, expected: string) {
  return text.split('\n').flatMap((raw, index) => {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) return []
    const value = parse(line)
    // The line is not shown: it holds a secret.
    if (value === null) throw new RangeError(`line ${index + 1} is not of the form ${expected}`)
    return [value]
  })
}
