/** @returns undefined if the text is not JSON, such as a truncated body. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // The caller decides what that means.
  }
}
