/** The metadata of users and parties: annotations, versions, and the masks of partial updates (docs/upstream.md §L5.3). */
import type { LedgerUserInput } from '@quorumscan/api'
import { LedgerError, type LedgerErrorCode } from '@quorumscan/errors'
import { invalidArgument, invalidField, missingField, quoted } from '../commands/grammar.ts'

type MetadataInput = LedgerUserInput['metadata']
export type Annotations = Readonly<Record<string, string>>

/** UTF-8 bytes of all annotations of one user or party: as upstream's 256 kB, but a record is read at every request. */
const ANNOTATIONS_BYTES_MAX = 16 * 1024
const NAME_LENGTH_MAX = 63
const PREFIX_LENGTH_MAX = 253
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/
const DNS_LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
/** How this participant writes versions: the number of changes. Clients take them as opaque. */
const VERSION = /^[0-9]{1,16}$/

/** The annotations of something new. @param field - The path of the metadata. @throws {LedgerError} */
export function readNewAnnotations(metadata: MetadataInput, field: string): Annotations {
  if ((metadata?.resourceVersion ?? '') !== '')
    throw invalidField(`${field}.resource_version`, 'it is empty where something is created')
  const { annotations = {} } = metadata ?? {}
  checkKeys(annotations, field)
  const empty = Object.entries(annotations).find(([, value]) => value === '')
  if (empty !== undefined)
    throw invalidArgument(`${field}.annotations: ${quoted(empty[0])} has an empty value`)
  return bounded(annotations, field)
}

/**
 * What an update does with annotations: those given are added or replace others, and an empty value removes one.
 *
 * @throws {LedgerError} INVALID_ARGUMENT for a malformed key; (the function) if they become too large.
 */
export function readAnnotationsChange(
  metadata: MetadataInput,
  field: string,
): (current: Annotations) => Annotations {
  const { annotations = {} } = metadata ?? {}
  checkKeys(annotations, field)
  return (current) => {
    const merged = Object.entries({ ...current, ...annotations })
    return bounded(Object.fromEntries(merged.filter(([, value]) => value !== '')), field)
  }
}

/**
 * Checks that nothing was changed since the client has read the version that it sends; '' does not ask for it.
 *
 * @throws {LedgerError} (the function) With `code`. @throws {LedgerError} INVALID_FIELD for what is no version.
 */
export function readVersionCheck(
  metadata: MetadataInput,
  { field, code }: { readonly field: string; readonly code: LedgerErrorCode },
): (current: number) => void {
  const { resourceVersion = '' } = metadata ?? {}
  if (resourceVersion !== '' && !VERSION.test(resourceVersion))
    throw invalidField(`${field}.resource_version`, 'this participant did not issue it')
  return (current) => {
    if (resourceVersion === '' || resourceVersion === versionText(current)) return
    throw new LedgerError(
      code,
      `${field}: version ${resourceVersion} was read, but the present one is ${versionText(current)}.`,
    )
  }
}

export function versionText(version: number): string {
  return String(version)
}

/**
 * The paths of an update mask. A path to a member selects what is below it.
 *
 * @param known - All members that a mask may name.
 * @throws {LedgerError} MISSING_FIELD for an empty mask, INVALID_ARGUMENT for an unknown or repeated path.
 */
export function readMask(
  mask: { readonly paths: readonly string[] } | undefined,
  known: readonly string[],
): (member: string) => boolean {
  const paths = mask?.paths ?? []
  if (paths.length === 0) throw missingField('update_mask')
  for (const [index, path] of paths.entries()) {
    if (!known.includes(path))
      throw invalidArgument(`update_mask: ${quoted(path)} is not one of ${known.join(', ')}`)
    if (paths.indexOf(path) !== index)
      throw invalidArgument(`update_mask: ${quoted(path)} is named twice`)
  }
  return (member) => paths.some((path) => path === member || member.startsWith(`${path}.`))
}

function checkKeys(annotations: Annotations, field: string): void {
  for (const key of Object.keys(annotations))
    if (!isAnnotationKey(key))
      throw invalidArgument(
        `${field}.annotations: ${quoted(key)} is not [<DNS name>/]<name> with at most ` +
          `${NAME_LENGTH_MAX} letters, digits, ".", "-" or "_" that begin and end with a letter or digit`,
      )
}

function isAnnotationKey(key: string): boolean {
  const slash = key.indexOf('/')
  const prefix = key.slice(0, Math.max(slash, 0))
  const name = key.slice(slash + 1)
  if (name.length > NAME_LENGTH_MAX || !NAME.test(name)) return false
  if (slash < 0) return true
  return (
    prefix.length <= PREFIX_LENGTH_MAX && prefix.split('.').every((label) => DNS_LABEL.test(label))
  )
}

function bounded(annotations: Annotations, field: string): Annotations {
  if (Buffer.byteLength(JSON.stringify(annotations)) > ANNOTATIONS_BYTES_MAX)
    throw invalidArgument(`${field}: annotations take at most ${ANNOTATIONS_BYTES_MAX} bytes`)
  return annotations
}
