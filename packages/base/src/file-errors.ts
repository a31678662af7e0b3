/** Errors of the file system, as sentences for an operator. */

const SENTENCES: Readonly<Record<string, (path: string) => string>> = {
  EEXIST: (path) => `${path} exists already`,
  EACCES: denied,
  EPERM: denied,
  EROFS: (path) => `${path}: the file system is read-only`,
  ENOSPC: (path) => `${path}: the disk is full`,
  EDQUOT: (path) => `${path}: the disk is full`,
  ENOENT: (path) => `${path} does not exist`,
  ENOTDIR: (path) => `${path} does not exist: a part of the path is not a directory`,
  EISDIR: (path) => `${path} is a directory, and not a file`,
}

function denied(path: string): string {
  const user = process.getuid === undefined ? '' : ` to the user with the id ${process.getuid()}`
  return `${path}: permission denied${user}. Run the command as the owner of the file, or give this user the right`
}

/**
 * The sentence for an error of the file system.
 *
 * @param file - For an error without a path, such as that of a read.
 * @returns undefined for any other error.
 */
export function describeFileError(error: unknown, file?: string): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code = '', path = file } = error as NodeJS.ErrnoException
  return path === undefined ? undefined : SENTENCES[code]?.(path)
}

/** The sentence for an error of reading or parsing a file, with its name. */
export function describeReadError(error: unknown, file: string): string {
  const message = error instanceof Error ? error.message : String(error)
  return describeFileError(error, file) ?? `${file}: ${message}`
}
