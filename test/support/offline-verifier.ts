/** The verifier of certified answers as one script without modules, and documents for it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleScript } from './bundle.ts'
import type { Vector } from './vector.ts'

/** Verifies a vector with the text of the genesis. @throws {Error} If it is invalid. */
export type Verify = (genesis: string, vector: Vector) => Promise<{ readonly answer: unknown }>

const CODE = `
  import { verifyVector } from './library-verifier.ts'
  globalThis.verify = verifyVector`

/** A script that defines the global function `verify`. */
export function buildVerifier(): Promise<string> {
  return bundleScript(CODE, import.meta.dirname, { isFromSources: true })
}

export function readStored(): { readonly genesis: string; readonly vectors: readonly Vector[] } {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../vectors/certified.json'), 'utf8'))
}
