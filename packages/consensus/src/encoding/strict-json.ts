/** JSON for documents that are judged: what two parsers could read differently is refused. */

// Unrolled, so that a text of many megabytes (the answer in a receipt) takes no stack.
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/y

/**
 * Parses a text.
 *
 * @throws {SyntaxError} If it is no JSON, or an object in it has a member twice.
 */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  // From here on the text is known to be well-formed, so that brackets and strings are all there is to see.
  const scopes: (Set<string> | null)[] = []
  for (let position = 0; position < text.length; position++) {
    const character = text[position]
    if (character === '{') scopes.push(new Set())
    else if (character === '[') scopes.push(null)
    else if (character === '}' || character === ']') scopes.pop()
    else if (character === '"') {
      STRING.lastIndex = position
      const token = STRING.exec(text)?.[0] ?? '""'
      position += token.length - 1
      if (isMemberName(text, position + 1)) addOnce(scopes.at(-1), JSON.parse(token) as string)
    }
  }
  return value
}

function isMemberName(text: string, after: number): boolean {
  let position = after
  while (' \t\r\n'.includes(text[position] ?? '.')) position++
  return text[position] === ':'
}

function addOnce(names: Set<string> | null | undefined, name: string): void {
  if (names?.has(name)) throw new SyntaxError(`member ${JSON.stringify(name)} occurs twice`)
  names?.add(name)
}
