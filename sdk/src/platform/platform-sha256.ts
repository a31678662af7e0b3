/** The platform's synchronous SHA-256, if it has one. */

type Hash = (bytes: Uint8Array) => Uint8Array
type NodeCrypto = {
  readonly hash?: (algorithm: string, data: Uint8Array, form: 'buffer') => Uint8Array
}

/** That of Node, ten times as fast as plain JavaScript; undefined elsewhere. */
export function platformSha256(): Hash | undefined {
  const { process } = globalThis as {
    readonly process?: { getBuiltinModule?(name: string): NodeCrypto | undefined }
  }
  const hash = process?.getBuiltinModule?.('node:crypto')?.hash
  return hash && ((bytes) => hash('sha256', bytes, 'buffer'))
}
