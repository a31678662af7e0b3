/** A transcript of commands and their output in a document. */

const BEGIN = '<!-- transcript, made by npm run docs:shots -->\n'
const END = '<!-- end of transcript -->'

/** Parts that are secret or differ between runs, and their replacements. */
const SHORTENED: readonly (readonly [RegExp, string])[] = [
  [/#token=\S+/g, '#…'],
  [/\b([0-9a-f]{8})[0-9a-f]{24,}\b/g, '$1…'],
]

export type Step = {
  readonly typed: string
  readonly printed: string
  /** Indexes of the shown paragraphs; negative ones count from the end. Default: all. */
  readonly paragraphs?: readonly number[]
}

/** Formats a transcript, without lines of `npm`, and with shortened tokens and hashes. */
export function transcriptOf(steps: readonly Step[]): string {
  return steps.map((step) => `$ ${step.typed}\n${shownOf(step)}\n`).join('\n')
}

function shownOf({ printed, paragraphs }: Step): string {
  const lines = printed.split('\n').filter((line) => !line.startsWith('> '))
  const all = lines
    .join('\n')
    .replace(/^\n+|\s+$/g, '')
    .split('\n\n')
  const wanted = paragraphs?.map((index) => (index < 0 ? all.length + index : index))
  const shown = all.filter((_, index) => wanted?.includes(index) ?? true)
  const text = [...shown, ...(shown.length < all.length ? ['…'] : [])].join('\n\n')
  return SHORTENED.reduce((rest, [what, by]) => rest.replace(what, by), text)
}

/**
 * Replaces the transcript of a document.
 *
 * @throws {Error} If the document has no place for one.
 */
export function withTranscript(document: string, transcript: string): string {
  const from = document.indexOf(BEGIN)
  const to = document.indexOf(END, from)
  if (from < 0 || to < 0) throw new Error('The document has no place for a transcript.')
  return `${document.slice(0, from)}${BEGIN}\`\`\`\n${transcript}\`\`\`\n${document.slice(to)}`
}

/** The commands of the transcript in a document, in order. */
export function typedIn(document: string): string[] {
  const text = document.slice(document.indexOf(BEGIN), document.indexOf(END))
  return [...text.matchAll(/^\$ (.*)$/gm)].map(([, typed = '']) => typed)
}
