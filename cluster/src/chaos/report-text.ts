/** How a report writes text, times and durations. */

export function milliseconds(value: number | null): string {
  return value === null ? '-' : `${Math.round(value)} ms`
}

/** With a tenth where there is one: 20 s, 3.4 s. */
export function seconds(valueMs: number): string {
  return `${Number((valueMs / 1000).toFixed(1))} s`
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
}
