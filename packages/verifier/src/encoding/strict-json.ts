/** Parses JSON strictly: refuses texts that two parsers could read differently. */

const [QUOTE, COLON, COMMA, BACKSLASH] = [0x22, 0x3a, 0x2c, 0x5c]
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d]

/** The largest text that a parser, and a recursive walk through the value, accept. */
export type JsonBounds = {
  /** Default: 1000, which is safe for recursion on all platforms. */
  readonly depthMax?: number
  /** The number of values, including nested ones. Default: any number, for texts that are bounded in bytes. */
  readonly valuesMax?: number
}

/**
 * Parses a text.
 *
 * Members are counted in the text and in the value, which has fewer if an object had one twice: this costs a
 * small part of what parsing does, while remembering the names of each object would cost several times as much.
 *
 * @throws {SyntaxError} If it is not JSON, or an object in it has a member twice, or one called `__proto__`.
 * @throws {RangeError} If it exceeds the bounds, which is found before anything is made of it.
 */
export function parseStrictJson(text: string, bounds: JsonBounds = {}): unknown {
  const memberCount = countMembers(text, bounds)
  const value: unknown = JSON.parse(text)
  if (membersOf(value) !== memberCount) throw new SyntaxError('a member occurs twice in one object')
  return value
}

/** The number of colons outside strings, which are the members of a JSON text. For other texts it has no meaning. */
function countMembers(text: string, bounds: JsonBounds): number {
  const { depthMax = 1_000, valuesMax = Number.POSITIVE_INFINITY } = bounds
  let depth = 0
  let memberCount = 0
  let valueCount = 1
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index)
    if (character === QUOTE) index = endOfString(text, index)
    else if (character === COLON) memberCount++
    else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      depth++
      valueCount++
      if (depth > depthMax) throw new RangeError(`more than ${depthMax} levels deep`)
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) depth--
    else if (character === COMMA) valueCount++
    if (valueCount > valuesMax) throw new RangeError(`more than ${valuesMax} values`)
  }
  return memberCount
}

/** The position of the quotation mark that ends the string; the end of the text if it has none. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashCount = 0
    while (text.charCodeAt(end - 1 - slashCount) === BACKSLASH) slashCount++
    if (slashCount % 2 === 0) return end
  }
  return text.length
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += membersOf(item)
  } else {
    for (const name of Object.keys(value)) {
      if (name === '__proto__') throw new SyntaxError('a member is called __proto__')
      count++
      count += membersOf((value as Record<string, unknown>)[name])
    }
  }
  return count
}
