/** Makes the keys of a member where they stay, and the file that it shows to the others. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKeyPair, describeFileError, type KeyPair, keyPairFromSeed } from '@quorumscan/base'
import { VOTE_STATE_FILE, voteStateAt } from '@quorumscan/cometbft'
import {
  assertWritable,
  CommandError,
  messageOf,
  PUBLIC_MODE,
  unlessDamaged,
  writeFileOnce,
} from '@quorumscan/runtime'
import type { DataDirectory } from '../data-directory.ts'
import {
  demandMemberInput,
  KEYS_OF,
  MEMBER_BYTES_MAX,
  type Member,
  type MemberInput,
  type MemberOf,
  parseMember,
  type Role,
  writeMember,
} from './member.ts'

/** Where the seed of a key lies. */
export function memberKeyFile(directory: DataDirectory, name: string, kind: string): string {
  return directory.keyFile(kind === 'synchronizer' ? name : `${name}.${kind}`)
}

/** Makes keys and member file, unless they are there; what is there stays as it is. */
export function makeMember<R extends Role>(
  directory: DataDirectory,
  role: R,
  input: MemberInput,
): MemberOf<R> {
  demandMemberInput(input)
  const { name } = input
  assertWritable(directory.path)
  const makeText = () => {
    if (role === 'super-validator') sayNothingIsSigned(directory, name)
    const pairs = KEYS_OF[role].map((kind) => [kind, makeKey(memberKeyFile(directory, name, kind))])
    return writeMember(role, input, Object.fromEntries(pairs))
  }
  const text = writeFileOnce(directory.memberFile(name), makeText, PUBLIC_MODE)
  const member = parseMember(text)
  if (member.role === role) return member as MemberOf<R>
  throw new CommandError(`${directory.memberFile(name)} is of a ${member.role}`)
}

/** @throws {CommandError} If it cannot be read, or is no member file. */
export function readMember(file: string): Member {
  try {
    const bytes = readFileSync(file)
    if (bytes.length > MEMBER_BYTES_MAX) throw new CommandError('it is too long for a member file')
    return parseMember(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch (error) {
    const why = describeFileError(error, file) ?? `${file}: ${messageOf(error)}`
    throw new CommandError(why, { cause: error })
  }
}

/**
 * That a member has signed nothing is written before there is a key that could sign, and never again: where it is
 * missing later, the member has lost it, and must not vote as before.
 */
function sayNothingIsSigned(directory: DataDirectory, name: string): void {
  if (existsSync(memberKeyFile(directory, name, 'voting'))) return
  writeFileOnce(join(directory.engineDirectory(name), VOTE_STATE_FILE), () => voteStateAt(0))
}

function makeKey(file: string): KeyPair {
  const seed = writeFileOnce(file, () => createKeyPair().seed)
  return unlessDamaged(file, () => keyPairFromSeed(seed.trim()))
}
