/** Text of others, such as answers of servers, as a person may see it in a terminal or in a log. */

/**
 * Control characters except line feed and tab, format characters (among them directions and zero widths), lone
 * surrogates, and line separators.
 */
const UNPRINTABLE = /[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}\u2028\u2029]/gu

const codeOf = (one: string) => `\\u{${one.codePointAt(0)?.toString(16)}}`

/** Escapes what could control a terminal or change the order of what is read: `\u{1b}`. */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE, codeOf)
}

/** As `printableLines`, for text that has one line. */
export function printable(text: string): string {
  return printableLines(text).replace(/[\n\t]/g, codeOf)
}

/** As `printableLines`, for JSON: it stays JSON of the same value. */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (one) =>
    one
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
