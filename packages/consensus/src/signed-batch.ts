/** A batch whose answers the node signed. */
import { type Asked, type BatchAnswer, cutBatch } from './batch.ts'

/** As `parseBatchAnswer`, with a well-formed signature an answer, unchecked. */
export function parseSignedAnswer(body: Uint8Array, asked: Asked): BatchAnswer | undefined {
  let signatures: readonly string[] = []
  const answers = cutBatch(body, asked, (document) => {
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
