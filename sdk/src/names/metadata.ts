/**
 * Metadata of a party in the description of its name entry: a JSON object with a member `meta`, a record of text to text
 * (CIP-0056, in force). The keys are those of Kubernetes annotations.
 */
import { DESCRIPTION_UNITS_MAX, membersOf } from '@quorumscan/verifier'
import { failure } from '../errors.ts'
import type { Metadata, MetadataInput } from './lookup-types.ts'

/** An optional DNS subdomain of at most 253 characters with `/`, then a name of at most 63 (CIP-0056). */
const KEY =
  /^(?:(?=[^/]{1,253}\/)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/
/** The key of the URLs of a token registry (CIP-0056). */
const REGISTRY_URLS = 'splice.lfdecentralizedtrust.org/registry-urls'
/** As one paragraph of CIP-0056 writes it. A correction is open (2026-09): both are read, and the first is written. */
const REGISTRY_URLS_MISSPELT = 'splice.lfdecentralizedtrust.org/registryUrls'

/** null: the description has no metadata, or not in this form. Members with an invalid key are left out. */
export function parseMetadata(description = ''): Metadata | null {
  try {
    const { meta } = membersOf(JSON.parse(description)) as { readonly meta?: unknown }
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
  const value = metadata?.[REGISTRY_URLS] ?? metadata?.[REGISTRY_URLS_MISSPELT] ?? ''
  return value
    .split(',')
    .map((text) => text.trim())
    .filter(isHttps)
}

/**
 * The description of an entry with this metadata. The order of the members does not matter: a repeated registration
 * must request the same text.
 *
 * @throws {QuorumscanError} INVALID_DESCRIPTION for an invalid key or value, and where it is too long: by how much is in
 *   the message and in `details.excess`, in UTF-16 units.
 */
export function formatMetadata(input: MetadataInput): string {
  const metadata = withRegistryUrls(input)
  const members = Object.entries(metadata)
  for (const [key, value] of members) {
    if (!KEY.test(key))
      throw invalid(
        `the key "${key}" of the metadata is not a name of at most 63 of A-Z, a-z, 0-9, "-", "_" and ".", after an optional DNS subdomain and "/"`,
      )
    if (typeof value !== 'string') throw invalid(`the metadata "${key}" is not a string`)
  }
  const meta = Object.fromEntries(Object.entries(metadata).sort())
  const description = JSON.stringify({ meta })
  const excess = description.length - DESCRIPTION_UNITS_MAX
  if (excess <= 0) return description
  const rule = `the description with the metadata is ${excess} UTF-16 units too long: it has ${description.length}, at most ${DESCRIPTION_UNITS_MAX} are allowed`
  throw invalid(rule, { excess })
}

/**
 * The record with the URLs under the key that is written.
 *
 * @throws {QuorumscanError} INVALID_DESCRIPTION for the key that CIP-0056 misspells, and for what is not https URLs.
 */
function withRegistryUrls(input: MetadataInput): Metadata {
  const { registryUrls, ...others } = membersOf(input) as Readonly<Record<string, unknown>>
  if (REGISTRY_URLS_MISSPELT in others)
    throw invalid(
      `the key "${REGISTRY_URLS_MISSPELT}" is read, but never written: pass registryUrls: ['https://…']`,
    )
  const text = others[REGISTRY_URLS]
  const given = 'registryUrls' in membersOf(input)
  const list = given ? registryUrls : typeof text === 'string' ? text.split(',') : undefined
  if (!given && list === undefined) return others as Metadata
  if (given && text !== undefined)
    throw invalid(`the metadata has both registryUrls and "${REGISTRY_URLS}"`)
  const isUrl = (url: unknown) => typeof url === 'string' && !url.includes(',') && isHttps(url)
  if (!Array.isArray(list) || list.length === 0 || !list.every(isUrl))
    throw invalid("registryUrls must be an array of https URLs without commas, ['https://…']")
  return { ...(others as Metadata), [REGISTRY_URLS]: list.join(',') }
}

function isHttps(text: string): boolean {
  return /^https:\/\//i.test(text.trim()) && URL.canParse(text.trim())
}

function invalid(rule: string, details: object = {}) {
  const facts = { details: { rule, ...details } }
  return failure('INVALID_DESCRIPTION', `The request violates a rule: ${rule}.`, facts)
}
