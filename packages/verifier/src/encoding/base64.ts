/** Base64 (RFC 4648 §4) without Node's Buffer. Of some kilobytes at most: arguments of one call. */

export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode.apply(null, bytes as unknown as number[]))
}

/** @returns undefined if it is not base64; several texts have the same bytes, of which `toBase64` gives one. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  let characters: string
  try {
    characters = atob(text)
  } catch {
    return undefined
  }
  // `Uint8Array.from` with a function takes ten times as long.
  const bytes = new Uint8Array(characters.length)
  for (let index = 0; index < bytes.length; index++) bytes[index] = characters.charCodeAt(index)
  return bytes
}
