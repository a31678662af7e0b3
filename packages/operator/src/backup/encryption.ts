/** Backups in the format of age (age-encryption.org/v1). Other programs for this format decrypt them, too. */
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { CommandError, messageOf, readInput, UsageError } from '@quorumscan/runtime'
import { Decrypter, Encrypter } from 'age-encryption'

const START = 'age-encryption.org/'

function encrypterFor(recipient: string): Encrypter {
  const encrypter = new Encrypter()
  try {
    encrypter.addRecipient(recipient)
    return encrypter
  } catch (cause) {
    const message = `${JSON.stringify(recipient)} is not a recipient of age, such as age1…, which \`age-keygen\` prints`
    throw new UsageError(message, { cause })
  }
}

/** The identities in the file, as `age-keygen` writes it. @throws {UsageError} If the file cannot be read, or has none. */
export function readIdentities(file: string): readonly string[] {
  return readInput(file, (bytes) => {
    const lines = bytes
      .toString()
      .split('\n')
      .map((line) => line.trim())
    const found = lines.filter((line) => line.startsWith('AGE-SECRET-KEY-'))
    if (found.length > 0) return found
    throw new Error('it has no line AGE-SECRET-KEY-…, as `age-keygen` writes it')
  })
}

export function isEncrypted(start: Uint8Array): boolean {
  return Buffer.from(start).toString('latin1').startsWith(START)
}

/** Bytes in the format of age. @throws {UsageError} If the text is not a recipient. */
export async function* encrypt(
  bytes: AsyncIterable<Uint8Array>,
  recipient: string,
): AsyncGenerator<Uint8Array> {
  yield* (await encrypterFor(recipient).encrypt(streamOf(bytes))) as unknown as Chunks
}

/** @throws {CommandError} If no identity fits, or the bytes were changed. `file` is for the message. */
export async function* decrypt(
  bytes: AsyncIterable<Uint8Array>,
  { file, identities }: { readonly file: string; readonly identities: readonly string[] },
): AsyncGenerator<Uint8Array> {
  if (identities.length === 0)
    throw new CommandError(
      `${file} is encrypted: name the file of its identity with \`--identity\``,
    )
  try {
    const decrypter = new Decrypter()
    for (const identity of identities) decrypter.addIdentity(identity)
    yield* (await decrypter.decrypt(streamOf(bytes))) as unknown as Chunks
  } catch (cause) {
    const message = `${file} was not decrypted: it was changed, or encrypted to another recipient (${messageOf(cause)}). Take another copy, or name another \`--identity\``
    throw new CommandError(message, { cause })
  }
}

type Chunks = ReadableStream<Uint8Array>

function streamOf(bytes: AsyncIterable<Uint8Array>) {
  return Readable.toWeb(Readable.from(bytes)) as globalThis.ReadableStream<Uint8Array>
}
