/**
 * Member files and keys. Keys are made on the machine where they stay. Each operator gives its member file to the others
 * before the network exists. The file has the public half of every key, and every key has signed the whole file:
 * its operator has all of its keys. It is public. Its operator issues it again when an address changes.
 */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  concatBytes,
  createKeyPair,
  fromHex,
  type KeyPair,
  keyPairFromSeed,
  parseKeyFile,
  sha256,
  toHex,
  utf8,
  verifySignature,
} from '@quorumscan/base'
import { VOTE_STATE_FILE, voteStateAt } from '@quorumscan/cometbft'
import { isAuthenticated } from '@quorumscan/reader'
import {
  assertWritable,
  CommandError,
  messageOf,
  messageOfRead,
  PUBLIC_MODE,
  readInput,
  UsageError,
  unlessDamaged,
  writeFileAtomic,
  writeFileOnce,
} from '@quorumscan/runtime'
import { canonicalJson, isUsableKey, membersOf, URL_LENGTH_MAX } from '@quorumscan/verifier'
import { z } from 'zod'
import type { DataDirectory } from '../data-directory.ts'

/**
 * The keys of each role. `scan` signs states, `operator` submissions, `voting` (the consensus key) votes on blocks; an
 * `engine` proves its id by its key. A synchronizer's key signs the groups of the log, a participant's key submissions.
 */
export const KEYS_OF = {
  'super-validator': ['scan', 'operator', 'voting', 'engine'],
  synchronizer: ['synchronizer'],
  validator: ['participant', 'engine'],
} as const
export type Role = keyof typeof KEYS_OF
type KindOf<R extends Role> = (typeof KEYS_OF)[R][number]
export const ROLES = Object.keys(KEYS_OF) as readonly Role[]
/** The processes that can be run, and the role whose keys they need. */
export const ROLE_OF = {
  sv: 'super-validator',
  synchronizer: 'synchronizer',
  validator: 'validator',
} as const satisfies Readonly<Record<string, Role>>
export type Runnable = keyof typeof ROLE_OF

/** A file has at most four keys and proofs, and two addresses. */
export const MEMBER_BYTES_MAX = 16 * 1024

const VERSION = 1
/** The advice for a file that was changed. */
const ASK_AGAIN = 'Ask its operator for the file that `keys new` wrote'
const TAG = 'quorumscan/member/1'
const ENGINE_ADDRESS = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\]):(\d{1,5})$/
const PORT_MAX = 65_535

const key = z.string().refine(isUsableKey, 'must be a usable Ed25519 key')
const proof = z.string().regex(/^[0-9a-f]{128}$/)

const given = {
  name: z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and -, such as sv-1'),
  /** µs since the epoch: when its keys were made. The genesis time of a network is the latest of these times. */
  createdAtMicros: z.int().min(1),
  /** Where others reach its scan node, and its engine; null: unknown. Neither is fixed by the genesis. */
  url: z
    .string()
    .max(URL_LENGTH_MAX)
    .refine(
      isNormalUrl,
      'must be an https address in its normal form, without a slash at the end, such as https://sv-1.example:4611 ' +
        '(http is for this machine alone)',
    )
    .nullable(),
  engineAddress: z
    .string()
    .refine(isEngineAddress, 'must be host:port, such as sv-1.example:26656')
    .nullable(),
  /** Missing in the file that `keys new` wrote. */
  reissued: z
    .strictObject({
      /** Of several files with the same keys, the one with the highest sequence is valid. */
      sequence: z.int().min(1),
      /** The SHA-256 of that first file, on which the genesis depends, hex. */
      first: z.string().regex(/^[0-9a-f]{64}$/),
    })
    .exactOptional(),
}
const of = <R extends Role, K extends KindOf<R>>(role: R, kinds: readonly K[]) => {
  const each = <S extends z.ZodType>(schema: S) =>
    z.strictObject(Object.fromEntries(kinds.map((kind) => [kind, schema])) as Record<K, S>)
  const form = { version: z.literal(VERSION), role: z.literal(role) }
  return z.strictObject({ ...given, ...form, keys: each(key), proofs: each(proof) })
}
const memberFile = z.discriminatedUnion('role', [
  of('super-validator', KEYS_OF['super-validator']),
  of('synchronizer', KEYS_OF.synchronizer),
  of('validator', KEYS_OF.validator),
])

/** The contents of a member file: of a super-validator, a synchronizer or a validator. */
export type MemberFile = z.infer<typeof memberFile>
export type MemberFileOf<R extends Role> = Extract<MemberFile, { readonly role: R }>

type MemberInput = Pick<
  MemberFile,
  'name' | 'createdAtMicros' | 'url' | 'engineAddress' | 'reissued'
>
/** How its operator types a member of it. */
const FLAGS: Readonly<Record<string, string>> = {
  name: '--name',
  url: '--url',
  engineAddress: '--engine-address',
}
type Addresses = Partial<Pick<MemberFile, 'url' | 'engineAddress'>>

/**
 * The text of a member file, signed with each of its keys.
 *
 * @throws {CommandError} If a member of it is not well-formed, or a key does not sign for its public half.
 */
export function writeMember<R extends Role>(
  role: R,
  input: MemberInput,
  keyPairs: Readonly<Record<KindOf<R>, KeyPair>>,
): string {
  const pairs = Object.entries(keyPairs) as [string, KeyPair][]
  const keys = Object.fromEntries(pairs.map(([kind, { publicKey }]) => [kind, publicKey]))
  const body = { version: VERSION, role, ...input, keys }
  const proofs = pairs.map(([kind, pair]) => [kind, toHex(pair.sign(statementOf(kind, body)))])
  const text = textOf({ ...body, proofs: Object.fromEntries(proofs) })
  parseMember(text)
  return text
}

/**
 * Reads a member file: in its one form, byte for byte, and signed by each of its keys.
 *
 * @throws {CommandError} With the problem of the file.
 */
export function parseMember(text: string): MemberFile {
  const parsed = memberFile.safeParse(parseCanonical(text))
  if (!parsed.success)
    throw new CommandError(`it is not a member file: ${messageOf(parsed.error)}. ${ASK_AGAIN}`)
  const { proofs, ...body } = parsed.data
  for (const [kind, publicKey] of Object.entries(body.keys)) {
    const signature = fromHex(String(membersOf(proofs)[kind]))
    if (!verifySignature({ publicKey, message: statementOf(kind, body), signature }))
      throw new CommandError(`the ${kind} key of ${body.name} did not sign it. ${ASK_AGAIN}`)
  }
  return parsed.data
}

function parseCanonical(text: string): unknown {
  try {
    const value = JSON.parse(text)
    if (textOf(value) === text) return value
  } catch {
    // It is not JSON, or has no canonical form.
  }
  throw new CommandError(
    `it is not a member file, or was changed after it was written. ${ASK_AGAIN}`,
  )
}

/** Ends in a line feed, as files do. */
function textOf(value: Parameters<typeof canonicalJson>[0]): string {
  return `${canonicalJson(value)}\n`
}

/** The statement that each key signs: that it is the key of this kind in this file. */
function statementOf(kind: string, body: object): Uint8Array {
  const digest = sha256(utf8(canonicalJson(body as Parameters<typeof canonicalJson>[0])))
  return concatBytes([utf8(`${TAG}\0${kind}\0`), digest])
}

/** Whether it is spelt as a parser of URLs spells it, without a slash at the end: equal addresses are equal texts. */
function isNormalUrl(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text) || !isAuthenticated(text)) return false
  const { href, search, hash, username, password } = new URL(text)
  return href.replace(/\/$/, '') === text && `${search}${hash}${username}${password}` === ''
}

function isEngineAddress(text: string): boolean {
  const port = Number(ENGINE_ADDRESS.exec(text)?.[1])
  return port >= 1 && port <= PORT_MAX
}

/** The file with the seed of a key. */
export function memberKeyFile(directory: DataDirectory, name: string, kind: string): string {
  return directory.keyFile(kind === 'synchronizer' ? name : `${name}.${kind}`)
}

/** Makes keys and member file, unless they exist. Existing ones stay as they are. */
export function makeMember<R extends Role>(directory: DataDirectory, role: R, input: MemberInput) {
  assertInput(input, 'no keys were made')
  const { name } = input
  assertWritable(directory.path)
  const makeText = () => {
    if (role === 'super-validator') recordNothingSigned(directory, name)
    const pairs = KEYS_OF[role].map((kind) => [kind, makeKey(memberKeyFile(directory, name, kind))])
    return writeMember(role, input, Object.fromEntries(pairs))
  }
  const text = writeFileOnce(directory.memberFile(name), makeText, PUBLIC_MODE)
  const member = parseMember(text)
  if (member.role === role) return member as MemberFileOf<R>
  throw new CommandError(
    `${directory.memberFile(name)} exists, and is the member file of a ${member.role}: choose another name or directory`,
  )
}

function assertInput(input: MemberInput, otherwise: string): void {
  const checked = z.strictObject(given).safeParse(input)
  if (checked.success) return
  const problems = checked.error.issues.map(({ path: [member = ''], message }) => {
    const value = input[member as keyof MemberInput]
    return `${FLAGS[String(member)] ?? String(member)} ${JSON.stringify(value)} ${message}`
  })
  throw new UsageError(`${otherwise}: ${problems.join('; ')}`)
}

/**
 * Replaces the member file of the data directory by one with other addresses and the next sequence. Returns its contents.
 *
 * @throws {CommandError} If the file or a key cannot be read, or the keys are not those of the file: it stays as it is.
 */
export function reissueMember(directory: DataDirectory, name: string, addresses: Addresses) {
  const file = directory.memberFile(name)
  const { role, keys, version: _version, proofs: _proofs, ...old } = readMember(file)
  const sequence = sequenceOf(old) + 1
  const first = toHex(firstDigestOf(readMember(file)))
  const input = { ...old, ...addresses, reissued: { sequence, first } }
  assertInput(input, 'the member file stays as it is')
  const pairs = Object.entries(keys).map(([kind, publicKey]) => {
    const keyFile = memberKeyFile(directory, name, kind)
    const pair = readInput(
      keyFile,
      (bytes) => parseKeyFile(bytes.toString()),
      'the member file stays as it is: ',
    )
    if (pair.publicKey === publicKey) return [kind, pair]
    throw new CommandError(`${keyFile} is not the ${kind} key in ${file}, which stays as it is`)
  })
  writeFileAtomic(file, writeMember(role, input, Object.fromEntries(pairs)), PUBLIC_MODE)
  return readMember(file)
}

/** The digest of the file that `keys new` wrote. */
export function firstDigestOf(member: MemberFile): Uint8Array {
  return member.reissued ? fromHex(member.reissued.first) : sha256(utf8(canonicalJson(member)))
}

export function sequenceOf({ reissued }: Pick<MemberFile, 'reissued'>): number {
  return reissued?.sequence ?? 0
}

/** Whether both are files of one member. */
export function isSameMember(one: MemberFile, other: MemberFile): boolean {
  return canonicalJson(one.keys) === canonicalJson(other.keys)
}

/** Without the files that a newer one of the same member replaces. */
export function newestMembers(members: readonly MemberFile[]): readonly MemberFile[] {
  return members.filter(
    (one) =>
      !members.some((other) => isSameMember(one, other) && sequenceOf(other) > sequenceOf(one)),
  )
}

/** @throws {CommandError} If it cannot be read, or is not a member file. */
export function readMember(file: string): MemberFile {
  try {
    const bytes = readFileSync(file)
    if (bytes.length > MEMBER_BYTES_MAX) throw new CommandError('it is too long for a member file')
    return parseMember(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch (error) {
    throw new CommandError(messageOfRead(error, file), { cause: error })
  }
}

/**
 * Records that a member has signed nothing, before it has a key that could sign, and never later. If the record is missing
 * later, the member has lost it, and must not vote as before.
 */
function recordNothingSigned(directory: DataDirectory, name: string): void {
  // Throws if this user may not look: an existing key may have signed.
  if (statSync(memberKeyFile(directory, name, 'voting'), { throwIfNoEntry: false })) return
  writeFileOnce(join(directory.engineDirectory(name), VOTE_STATE_FILE), () => voteStateAt(0))
}

function makeKey(file: string): KeyPair {
  const seed = writeFileOnce(file, () => createKeyPair().seed)
  return unlessDamaged(file, () => keyPairFromSeed(seed.trim()))
}
