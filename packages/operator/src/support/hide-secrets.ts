/** Removes secrets from texts that an operator gives to others: those of this machine by their value, and others by their form. */
import { fromHex } from '@quorumscan/base'

/** Takes the place of a secret. */
export const HIDDEN = '[hidden]'
/** A shorter text is no secret that could be told from a word. */
const SECRET_LENGTH_MIN = 8
const SEED = /^[0-9a-f]{64}$/i
/** Of the base64 of a seed with more bytes behind it, what depends on the seed alone. */
const SEED_BASE64_LENGTH = 42

/** Forms in which secrets occur, whoever's they are. */
const FORMS: readonly (readonly [form: RegExp, replacement: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN],
  [/AGE-SECRET-KEY-1[A-Z0-9]+/gi, HIDDEN],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, HIDDEN],
  [/\b(bearer|basic)\s+[\w~+/.=-]{8,}/gi, `$1 ${HIDDEN}`],
  [
    /("?\b(?:x-peer-token|authorization|password|passphrase|secret|token)"?\s*[:=]\s*"?)(?!\[)[^\s",;}]{8,}/gi,
    `$1${HIDDEN}`,
  ],
  [/(:\/\/)[^/\s"'@]+@/g, `$1${HIDDEN}@`],
]

/**
 * Returns the function that hides them, and counts the places.
 *
 * @param secrets - Texts of files that hold secrets: keys, tokens, passwords.
 */
export function createHiding(secrets: Iterable<string>) {
  const values = [...new Set([...secrets].flatMap(valuesIn))].sort((a, b) => b.length - a.length)
  let places = 0
  const note = (replacement: string) => {
    places += 1
    return replacement
  }
  return {
    secretCount: values.length,
    placeCount: () => places,
    hide(text: string): string {
      let hidden = text
      for (const value of values)
        if (hidden.includes(value)) {
          places += hidden.split(value).length - 1
          hidden = hidden.replaceAll(value, HIDDEN)
        }
      for (const [form, replacement] of FORMS)
        hidden = hidden.replace(form, (...match: string[]) =>
          note(replacement.replace('$1', match[1] ?? '')),
        )
      return hidden
    },
  }
}

/** Each word of a file with secrets, and the other forms in which programs write it. */
function valuesIn(text: string): string[] {
  return text
    .split(/\s+/)
    .filter((word) => word.length >= SECRET_LENGTH_MIN && !/^-----|^https?:\/\//.test(word))
    .flatMap((word) => {
      const encoded = [word, JSON.stringify(word).slice(1, -1), encodeURIComponent(word)]
      if (!SEED.test(word)) return [...encoded, Buffer.from(word).toString('base64')]
      const base64 = Buffer.from(fromHex(word.toLowerCase())).toString('base64')
      const start = base64.slice(0, SEED_BASE64_LENGTH)
      const url = start.replaceAll('+', '-').replaceAll('/', '_')
      return [word.toLowerCase(), word.toUpperCase(), start, url]
    })
}

/** A value of a variable as it may be shown: without what only a secret looks like. */
export function showValue(value: string): string {
  return value
    .split(/([/,=\s])/)
    .map((part) => (looksRandom(part) ? HIDDEN : part))
    .join('')
}

/** A token or a key that was typed in place of the name of its file. */
function looksRandom(part: string): boolean {
  const isPublic =
    /^age1[a-z0-9]+$/.test(part) || part.includes('::') || /^[\w.-]+\.[a-z]{2,}$/i.test(part)
  return !isPublic && /^[\w~+-]{20,}$/.test(part) && /\d/.test(part) && /[a-z]/i.test(part)
}
