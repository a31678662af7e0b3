/**
 * Metadata of a party in the description of its name entry: a JSON object with a member `meta`, a record of text to text
 * (CIP-0056, in force). The keys are those of Kubernetes annotations.
 */
import { DESCRIPTION_UNITS_MAX } from '@quorumscan/verifier'
import { failure } from '../errors.ts'

/** What a party states about itself, by key. Anyone can write anything into the own entry. */
export type Metadata = Readonly<Record<string, string>>

/** An optional DNS subdomain of at most 253 characters with `/`, then a name of at most 63 (CIP-0056). */
const KEY =
  /^(?:(?=[^/]{1,253}\/)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/
/** The second spelling stands in one paragraph of CIP-0056; a correction is open (2026-09). */
const REGISTRY_URLS = [
  'splice.lfdecentralizedtrust.org/registry-urls',
  'splice.lfdecentralizedtrust.org/registryUrls',
] as const

/** null: the description has no metadata, or not in this form. Members with an invalid key are left out. */
export function parseMetadata(description: string): Metadata | null {
  try {
    const { meta } = Object(JSON.parse(description)) as { readonly meta?: unknown }
    if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return null
    const members = Object.entries(meta)
    if (!members.every((member): member is [string, string] => typeof member[1] === 'string'))
      return null
    return Object.fromEntries(members.filter(([key]) => KEY.test(key)))
  } catch {
    return null // A description in words.
  }
}

/** The https URLs of the registry of a party's tokens, in its order; what is not such a URL is left out. */
export function registryUrlsOf(metadata: Metadata | null): readonly string[] {
  const key = REGISTRY_URLS.find((each) => metadata?.[each] !== undefined)
  const texts = key === undefined ? [] : (metadata?.[key] ?? '').split(',')
  return texts
    .map((text) => text.trim())
    .filter((text) => /^https:\/\//i.test(text) && URL.canParse(text))
}

/**
 * The description of an entry with this metadata.
 *
 * @throws {QuorumscanError} INVALID_DESCRIPTION for an invalid key or value, and where it is too long: by how much is in
 *   the message and in `details.excess`, in UTF-16 units.
 */
export function formatMetadata(metadata: Metadata): string {
  for (const [key, value] of Object.entries(Object(metadata) as Metadata)) {
    if (!KEY.test(key))
      throw invalid(`${key} is no key of metadata: [subdomain/]name, as of Kubernetes annotations`)
    if (typeof value !== 'string') throw invalid(`the value of ${key} is not a text`)
  }
  const description = JSON.stringify({ meta: metadata })
  const excess = description.length - DESCRIPTION_UNITS_MAX
  if (excess <= 0) return description
  const limit = `a description has at most ${DESCRIPTION_UNITS_MAX} UTF-16 units`
  throw invalid(
    `the metadata is ${excess} too long: ${limit}, and this one ${description.length}`,
    {
      excess,
    },
  )
}

function invalid(rule: string, details: object = {}) {
  return failure('INVALID_DESCRIPTION', `The request breaks a rule: ${rule}.`, {
    details: { rule, ...details },
  })
}
