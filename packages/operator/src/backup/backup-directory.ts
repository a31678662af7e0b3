/** A directory of backups: the names of its files, and the deletion of old ones. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Micros } from '@quorumscan/model'
import { formatInstant, parseInstant } from '@quorumscan/verifier'

/** The time without colons, which `scp` would take for the end of a host name. */
const NAME = /^(.+)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup(?:\.age)?$/

/** A file in the directory for a backup of the operator that is taken now. */
export function newBackupFile(
  directory: string,
  { name, nowMicros, isEncrypted }: { name: string; nowMicros: Micros; isEncrypted: boolean },
): string {
  const time = `${formatInstant(nowMicros).slice(0, -8).replace(/[-:]/g, '')}Z`
  return join(directory, `${name}-${time}.backup${isEncrypted ? '.age' : ''}`)
}

/** Deletes all backups of the operator but the newest. Returns the deleted files. */
export function deleteOldBackups(directory: string, name: string, keep: number): readonly string[] {
  const old = backupsIn(directory, name).slice(keep)
  for (const { file } of old) rmSync(file)
  return old.map(({ file }) => file)
}

/** The newest first. */
function backupsIn(directory: string, name: string) {
  return readdirSync(directory)
    .flatMap((file) => {
      const [, of, year, month, day, hour, minute, second] = NAME.exec(file) ?? []
      const taken = `${year}-${month}-${day}T${hour}:${minute}:${second}.000000Z`
      const takenAtMicros = of === name ? parseInstant(taken) : undefined
      return takenAtMicros === undefined ? [] : [{ file: join(directory, file), takenAtMicros }]
    })
    .sort((one, other) => other.takenAtMicros - one.takenAtMicros)
}
