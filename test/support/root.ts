import { fileURLToPath } from 'node:url'
import { SOFTWARE_ROOT } from '@quorumscan/base'

/** The folder of the repository, with a slash at its end, for tests and for programs, which are bundles. */
export const ROOT = fileURLToPath(SOFTWARE_ROOT)
