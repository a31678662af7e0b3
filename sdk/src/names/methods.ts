/** The methods of lookups. A client has them before their code is loaded. */
import type { Names } from './names-type.ts'

/** Whether each method yields. */
export const LOOKUPS: Readonly<Record<keyof Names, boolean>> = {
  resolve: false,
  search: true,
  namesOf: true,
  watch: true,
  resolveMany: false,
  reverseMany: false,
  reverse: false,
  lookup: false,
  acceptChange: false,
  isAvailable: false,
  metadata: false,
  registryUrls: false,
}
