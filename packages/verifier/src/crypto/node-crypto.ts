/** `node:crypto`, without an import that bundles for browsers would contain. */

/** The members that are used here, by types of its own: consumers need not have the types of Node. */
export type NodeCrypto = {
  hash?(algorithm: string, data: Uint8Array, form: 'buffer'): Uint8Array
  createHash(algorithm: string): {
    update(data: Uint8Array): { digest(): Uint8Array }
  }
  createPublicKey(input: { key: Uint8Array; format: 'der'; type: 'spki' }): object
  verify(
    algorithm: null,
    data: Uint8Array,
    key: object,
    signature: Uint8Array,
    done: (error: Error | null, isValid: boolean) => void,
  ): void
}

type Platform = {
  readonly process?: {
    readonly versions?: { readonly deno?: string; readonly bun?: string }
    getBuiltinModule?(name: string): NodeCrypto | undefined
  }
  readonly navigator?: { readonly userAgent?: string } | null
}

/** The module of Node (≥ 20.16), also in tests with jsdom. undefined elsewhere: other runtimes only imitate it. */
export function nodeCrypto(): NodeCrypto | undefined {
  const { process, navigator } = globalThis as unknown as Platform
  const isOther = process?.versions?.deno !== undefined || process?.versions?.bun !== undefined
  if (isOther || navigator?.userAgent === 'Cloudflare-Workers') return undefined
  return process?.getBuiltinModule?.('node:crypto')
}
