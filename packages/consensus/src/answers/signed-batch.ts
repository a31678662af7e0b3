/** A batch whose answers the node signed. */
import { type Asked, parseBatchAnswer } from './batch.ts'

/** The answers, and a hex signature for each, well-formed but unchecked. */
export type SignedAnswers = {
  readonly answers: readonly Uint8Array<ArrayBuffer>[]
  readonly signatures: readonly string[]
}

/** As `parseBatchAnswer`, of a body that ends in its signatures. */
export function parseSignedAnswer(body: Uint8Array, asked: Asked): SignedAnswers | undefined {
  let signatures: readonly string[] = []
  const answers = parseBatchAnswer(body, asked, (document) => {
    const given = (document as { signatures?: unknown }).signatures
    if (!Array.isArray(given) || given.length !== asked.lookups.length) return undefined
    // Before they are written anew: JSON.stringify throws for what a node nested too deep.
    if (!given.every(isSignature)) return undefined
    signatures = given
    return `],"signatures":${JSON.stringify(given)}}`
  })
  return answers && { answers, signatures }
}

/** 64 bytes in lower-case hex. */
export function isSignature(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{128}$/.test(value)
}
