/** Code that resolving a name does not need. Clients load each part when they use it. */
import { loadPart } from './platform/load-part.ts'

export const LATER = {
  /** A lookup has no answer at once, or one that is not used as it is; and options that few clients have. */
  extras: () => loadPart(() => import('./scan-extras.ts')),
  /** The lookup of one name with all facts. */
  lookups: () => loadPart(() => import('./names/other-lookups.ts')),
  /** Lookups of many names, and by party. */
  many: () => loadPart(() => import('./names/many-lookups.ts')),
  /** Lists, watches, metadata, activities. */
  lists: () => loadPart(() => import('./scan-lists.ts')),
}

export type Later = typeof LATER
