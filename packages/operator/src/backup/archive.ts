/**
 * The file of a backup: lines of canonical JSON. The first is the header, then one item each, and the last is the SHA-256
 * of all lines before. A file with a changed byte, or without its end, is refused before any item is used.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, existsSync, rmSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { splitFrames, utf8 } from '@quorumscan/base'
import { parseJson } from '@quorumscan/reader'
import {
  CommandError,
  messageOf,
  messageOfRead,
  messageOfWrite,
  syncDirectory,
} from '@quorumscan/runtime'
import { canonicalJson, type Json } from '@quorumscan/verifier'
import { z } from 'zod'
import { decrypt, encrypt, isEncrypted } from './encryption.ts'

const FORMAT = 'quorumscan/backup/1'
/** The path of the genesis document below the data directory. */
export const GENESIS_PATH = 'genesis.json'
/** The paths below the data directory to which a restore may write. */
const ITEM_PATH =
  /^(?:genesis\.json|[a-z0-9-]+\.member\.json|(?:keys|members|files)\/[A-Za-z0-9_-][A-Za-z0-9._-]*)$/
/** The file holds private keys. */
const MODE = 0o600
const LINE_FEED = 10

const header = z.strictObject({
  format: z.literal(FORMAT),
  role: z.enum(['sv', 'synchronizer', 'validator']),
  name: z.string(),
  /** Hex. */
  genesisHash: z.string(),
  takenAt: z.string(),
  /** The variables of its configuration. The file that one names is at `files/<variable>`. */
  variables: z.record(z.string(), z.string()),
  /** The named files that are not in the backup, because the command was told to leave them out. Absent: none. */
  skipped: z.array(z.strictObject({ variable: z.string(), reason: z.string() })).optional(),
})
export type Header = z.infer<typeof header>

const item = z.union([
  /** `path`: below the data directory. */
  z.strictObject({ kind: z.literal('file'), path: z.string().regex(ITEM_PATH), text: z.string() }),
  z.strictObject({
    kind: z.literal('kept'),
    key: z.string(),
    items: z.array(z.union([z.tuple([z.string(), z.string()]), z.tuple([z.string()])])),
  }),
  /** The offset that a super-validator had applied; it kept the groups that follow this item. */
  z.strictObject({ kind: z.literal('head'), offset: z.int().nonnegative() }),
  /** A group of the log, in base64. */
  z.strictObject({ kind: z.literal('group'), bytes: z.string(), signature: z.string() }),
])
export type Item = z.infer<typeof item>

const end = z.strictObject({ kind: z.literal('end'), sha256: z.string() })

/**
 * Writes a new file that only its owner can read. It appears only when it is complete.
 *
 * @param recipient - An age recipient, to whom the file is encrypted; null: it is not encrypted.
 * @throws {CommandError} If the file exists.
 */
export async function writeArchive(
  file: string,
  of: Omit<Header, 'format'>,
  items: AsyncIterable<Item>,
  recipient: string | null = null,
): Promise<void> {
  if (existsSync(file))
    throw new CommandError(
      `${file} exists already: nothing was written. Name another file with \`--out\``,
    )
  const partial = `${file}.partial`
  const handle = await openNew(partial).catch((cause: unknown) => {
    throw new CommandError(`no backup was written: ${messageOfWrite(cause, file)}`, { cause })
  })
  const lines = linesWith(of, items)
  try {
    for await (const bytes of recipient === null ? lines : encrypt(lines, recipient))
      await handle.write(bytes)
    await handle.sync()
    await handle.close()
    await rename(partial, file)
    syncDirectory(dirname(file))
  } catch (error) {
    await handle.close().catch(() => {}) // Closed already.
    rmSync(partial, { force: true })
    throw error
  }
}

/** What an interrupted backup left is deleted. */
async function openNew(file: string) {
  rmSync(file, { force: true })
  return await open(file, 'wx', MODE)
}

async function* linesWith(
  of: Omit<Header, 'format'>,
  items: AsyncIterable<Item>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  const lineOf = (value: unknown) => {
    const line = utf8(`${canonicalJson(value as Json)}\n`)
    hash.update(line)
    return line
  }
  yield lineOf({ format: FORMAT, ...of })
  for await (const each of items) yield lineOf(each)
  yield lineOf({ kind: 'end', sha256: hash.copy().digest('hex') })
}

export type Archive = Awaited<ReturnType<typeof openArchive>>

/**
 * Reads the file once, to its end.
 *
 * @param identities - Of age, one of which decrypts the file if it is encrypted.
 * @throws {CommandError} If the file is not a backup, was changed, or cannot be decrypted. The message names the file.
 */
export async function openArchive(file: string, identities: readonly string[] = []) {
  const hash = createHash('sha256')
  let first: Uint8Array | undefined
  let last: { readonly line: Uint8Array; readonly sha256: string } | undefined
  for await (const line of linesOf(file, identities)) {
    first ??= line
    last = { line, sha256: hash.copy().digest('hex') }
    hash.update(line).update('\n')
  }
  const of = header.safeParse(first && parseJson(first))
  if (!of.success)
    throw new CommandError(
      `${file} is not a backup of the format ${FORMAT}: name a file that \`backup\` wrote`,
    )
  const written = end.safeParse(last && parseJson(last.line))
  if (!written.success) throw damaged(file, 'its end is missing')
  if (written.data.sha256 !== last?.sha256) throw damaged(file, 'its bytes were changed')
  return {
    header: of.data,
    /** The items in the order in which they were written. Each call reads the file again. */
    async *items(): AsyncGenerator<Item> {
      let count = 0
      for await (const line of linesOf(file, identities)) {
        const value = parseJson(line)
        if (count++ === 0 || end.safeParse(value).success) continue
        const read = item.safeParse(value)
        if (!read.success) throw damaged(file, `line ${count}: ${messageOf(read.error)}`)
        yield read.data
      }
    },
  }
}

/** The lines without their line feeds, as bytes, because the hash covers bytes. */
async function* linesOf(file: string, identities: readonly string[]): AsyncGenerator<Uint8Array> {
  const lines = splitFrames((bytes) => bytes.indexOf(LINE_FEED) + 1 || bytes.byteLength + 1)
  try {
    const stored = createReadStream(file)
    await once(stored, 'readable')
    const start: Uint8Array | null = stored.read() // Null: the file is empty.
    if (start !== null) stored.unshift(start)
    const isAge = start !== null && isEncrypted(start)
    for await (const chunk of isAge ? decrypt(stored, { file, identities }) : stored)
      for (const line of lines.add(chunk)) yield line.subarray(0, -1)
  } catch (error) {
    throw new CommandError(messageOfRead(error, file), { cause: error })
  }
  if (lines.heldBytes() > 0) throw damaged(file, 'its end is missing')
}

function damaged(file: string, why: string): CommandError {
  return new CommandError(
    `${file} is damaged: ${why}. Nothing of it was used: take another copy, or an older backup`,
  )
}
