/**
 * Watches the directory of member files, and passes changes on to the running processes: validators that are admitted or
 * removed, and members with other addresses. The processes read the file that is written here (`QS_PEERS_FILE`).
 */
import { type Clock, describeProblem, onReload } from '@quorumscan/base'
import { createRateLimitedLog, messageOf, repeat, writeFileUnlessEqual } from '@quorumscan/runtime'
import { isSameMember, type MemberFile, sequenceOf } from '../ceremony/member.ts'
import { type OperatorConfig, problemsOfMembers, readMembers } from './operator-config.ts'
import { peersFileOf } from './operator-services.ts'

const LOOK_MS = 5_000

/**
 * Writes the file before it returns, and again after each change, until it is disposed of. Looks at once at a reload. While a member file is invalid,
 * or one of a super-validator is missing, nothing changes.
 *
 * @param report - Receives what changed, and why nothing changed, in sentences.
 */
export function watchMembers(
  config: OperatorConfig,
  { clock, report }: { readonly clock: Clock; readonly report: (sentence: string) => void },
) {
  const { directory, memberDirectory } = config
  const problems = createRateLimitedLog({ clock, perSubjectMs: Number.POSITIVE_INFINITY })
  let { members } = config

  const write = () => writeFileUnlessEqual(directory.peersFile, peersFileOf({ ...config, members }))
  const look = (): void => {
    const found = readMembers(memberDirectory).map((file) => newerOf(file, members))
    const wrong = problemsOfMembers({ ...config, members: found })
    if (wrong.length > 0) throw new Error(wrong.map(describeProblem).join('; '))
    problems.forget()
    const changes = changesBetween(members, found)
    members = found
    write()
    for (const change of changes) report(change)
  }
  const onError = (error: unknown): void =>
    problems.write(messageOf(error), () =>
      report(
        `the member files in ${memberDirectory} are invalid, and nothing changes until they are corrected: ${messageOf(error)}`,
      ),
    )
  write()
  const closing = new AbortController()
  const lookNow = () => {
    try {
      look()
    } catch (error) {
      onError(error)
    }
  }
  onReload(lookNow, closing.signal)
  const looks = repeat(lookNow, { clock, everyMs: LOOK_MS })
  return {
    async [Symbol.asyncDispose]() {
      closing.abort()
      await looks[Symbol.asyncDispose]()
    },
  }
}

/** The file, or the one in use if that is newer. */
function newerOf(file: MemberFile, inUse: readonly MemberFile[]): MemberFile {
  const known = inUse.find((one) => isSameMember(one, file))
  return known !== undefined && sequenceOf(known) > sequenceOf(file) ? known : file
}

function changesBetween(old: readonly MemberFile[], found: readonly MemberFile[]): string[] {
  const ofSame = (file: MemberFile, others: readonly MemberFile[]) =>
    others.find((one) => isSameMember(one, file))
  const removed = old.filter((file) => ofSame(file, found) === undefined)
  return [
    ...removed.map(({ role, name }) => `the ${role} ${name} was removed from the member files`),
    ...found.flatMap((file) => {
      const { role, name } = file
      const known = ofSame(file, old)
      if (known === undefined) return [`the ${role} ${name} was added to the member files`]
      return sequenceOf(known) < sequenceOf(file) ? [`the ${role} ${name} has other addresses`] : []
    }),
  ]
}
