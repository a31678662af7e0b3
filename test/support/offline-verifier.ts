/** The verifier of certified answers as one script without modules, and documents for it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Vector } from './vector.ts'

/** Verifies a vector with the text of the genesis. @throws {Error} If it is invalid. */
export type Verify = (genesis: string, vector: Vector) => Promise<{ readonly answer: unknown }>

const CODE = `
  import { verifyVector } from './library-verifier.ts'
  globalThis.verify = verifyVector`

/** A script that defines the global function `verify`. */
export async function buildVerifier(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: CODE, resolveDir: import.meta.dirname },
    conditions: ['@quorumscan/source'],
    bundle: true,
    format: 'iife',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

export function readStored(): { readonly genesis: string; readonly vectors: readonly Vector[] } {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../vectors/certified.json'), 'utf8'))
}
