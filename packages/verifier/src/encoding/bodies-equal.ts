/** As `bytesEqual`, and several times as fast for bodies of megabytes. Bundles that resolve names do not need it. */
export function bodiesEqual(a: Uint8Array, b: Uint8Array): boolean {
  const { byteLength } = a
  if (byteLength !== b.byteLength) return false
  let position = 0
  // Four bytes at a time where both lie on a word boundary.
  if (((a.byteOffset | b.byteOffset) & 3) === 0) {
    const wordCount = byteLength >> 2
    const wordsOfA = new Int32Array(a.buffer, a.byteOffset, wordCount)
    const wordsOfB = new Int32Array(b.buffer, b.byteOffset, wordCount)
    while (position < wordCount && wordsOfA[position] === wordsOfB[position]) position++
    position *= 4
  }
  while (position < byteLength && a[position] === b[position]) position++
  return position === byteLength
}
