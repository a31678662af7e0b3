/** The age of the newest backup. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '@quorumscan/base'
import { type Check, ok, warning } from './check.ts'

const BACKUP = /\.backup(?:\.age)?$/
const MS_PER_HOUR = 3_600_000
const MICROS_PER_MS = 1000
/** A backup a day, and one that was missed. */
const HOURS_MAX = 50

export function checkBackup(directory: string, clock: Clock): Check {
  const all = existsSync(directory) ? readdirSync(directory) : []
  const files = all.filter((file) => BACKUP.test(file))
  const [newest] = files
    .map((file) => ({ file, madeMs: statSync(join(directory, file)).mtimeMs }))
    .sort((one, other) => other.madeMs - one.madeMs)
  const advice = 'Take one: docs/operations.md, "Backups"'
  if (newest === undefined)
    return warning('backup', `${directory} has no *.backup or *.backup.age`, advice)
  const hours = Math.floor((clock.nowMicros() / MICROS_PER_MS - newest.madeMs) / MS_PER_HOUR)
  const detail = `${newest.file} is ${hours} h old`
  return hours > HOURS_MAX ? warning('backup', detail, advice) : ok('backup', detail)
}
