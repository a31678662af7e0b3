/** When the certificates in a PEM file are valid, and how that is judged: processes and checks do it in one way. */
import { X509Certificate } from 'node:crypto'
import { MICROS_PER_MS, type NamedFile } from '@quorumscan/base'
import { formatInstant } from '@quorumscan/verifier'

const MICROS_PER_DAY = 86_400_000_000
/** Less is a warning. The alert CertificateEnds fires at the same time. */
const DAYS_LEFT_MIN = 7
const CERTIFICATE = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs
/** The variables that name files of authorities. */
const AUTHORITIES = /_CA$/

export type Validity = { readonly beginsMicros: number; readonly endsMicros: number }

/** Of the certificates in a file that count: at least one. */
export type Validities = readonly [Validity, ...Validity[]]

/**
 * Of a chain, that of the first certificate alone; of authorities, that of each.
 *
 * @throws {Error} If the text holds no certificate in PEM.
 */
export function validitiesIn(variable: NamedFile['variable'], text: string): Validities {
  const [first, ...others] = text.match(CERTIFICATE) ?? []
  const validity = validityOf(first ?? '')
  if (!AUTHORITIES.test(variable)) return [validity]
  return [validity, ...others.flatMap((pem) => validityIfAny(pem) ?? [])]
}

/**
 * The one that decides: of those that have begun, or of all if none has, the one that ends last. While an authority
 * changes, the file has the old one and the new one, which may begin later.
 */
export function decisiveValidity(all: Validities, nowMicros: number): Validity {
  const hasBegun = ({ beginsMicros }: Validity) => beginsMicros <= nowMicros
  return all.reduce((best, one) => {
    if (hasBegun(one) !== hasBegun(best)) return hasBegun(one) ? one : best
    return one.endsMicros > best.endsMicros ? one : best
  })
}

function validityOf(pem: string): Validity {
  const { validFrom, validTo } = new X509Certificate(pem)
  return { beginsMicros: microsOf(validFrom), endsMicros: microsOf(validTo) }
}

/** OpenSSL passes over what it cannot read after the first certificate, too. */
function validityIfAny(pem: string): Validity | null {
  try {
    return validityOf(pem)
  } catch {
    return null
  }
}

function microsOf(text: string): number {
  // biome-ignore lint/style/noRestrictedGlobals: it reads a text, and no clock.
  return Date.parse(text) * MICROS_PER_MS
}

/** Others refuse one that has `ended` or not `begun`. */
export type ValidityVerdict = {
  readonly kind: 'valid' | 'ends-soon' | 'ended' | 'not-begun'
  /** `valid until 2030-01-31, for 90 days`, `expired on 2030-01-31` or `is valid only from 2030-01-31 on`. */
  readonly words: string
}

export function judgeValidity(all: Validities, nowMicros: number): ValidityVerdict {
  const { beginsMicros, endsMicros } = decisiveValidity(all, nowMicros)
  if (beginsMicros > nowMicros)
    return { kind: 'not-begun', words: `is valid only from ${dateOf(beginsMicros)} on` }
  if (endsMicros < nowMicros) return { kind: 'ended', words: `expired on ${dateOf(endsMicros)}` }
  const days = Math.floor((endsMicros - nowMicros) / MICROS_PER_DAY)
  const words = `valid until ${dateOf(endsMicros)}, for ${days} days`
  return { kind: days < DAYS_LEFT_MIN ? 'ends-soon' : 'valid', words }
}

/** Such as 2030-01-31. */
function dateOf(micros: number): string {
  return formatInstant(micros).slice(0, 10)
}
