/**
 * Whether the certificates of a process are valid: the one that it shows to clients, those that it shows as a client, and
 * those of the authorities that it trusts. With one that is not, others refuse the process, or it refuses them: it is not
 * ready, and a super-validator does not count itself (D-87).
 */
import type { Clock } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { decisiveValidity, judgeValidity, type Validities } from './certificate-validity.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import { createRateLimitedLog } from './rate-limited-log.ts'

const MICROS_PER_SECOND = 1_000_000
/** Between two log lines about one certificate. */
const LOG_MS = 3_600_000

export type OwnCertificate = {
  /** The variable that names its file. */
  readonly variable: string
  /** Of the file as it is in use now. */
  readonly validities: () => Validities
}

export type OwnCertificates = ReturnType<typeof judgeOwnCertificates>

/** Measures the ends, too. */
export function judgeOwnCertificates(
  certificates: readonly OwnCertificate[],
  app: { readonly clock: Clock; readonly logger: Logger; readonly metrics: Metrics },
) {
  const { clock, logger } = app
  app.metrics.sampled('gauge', {
    name: 'certificate_ends_seconds',
    help: 'Until when a certificate is valid, in seconds since 1970, by the variable that names its file.',
    labels: ['certificate'],
    read: () => {
      // Where nothing asks /readyz or /status, the log has what they would say.
      problem()
      detail()
      return certificates.map(({ variable, validities }) => {
        const { endsMicros } = decisiveValidity(validities(), clock.nowMicros())
        return [[variable], endsMicros / MICROS_PER_SECOND] as const
      })
    },
  })
  const lines = createRateLimitedLog({ clock, perSubjectMs: LOG_MS })
  const verdicts = () =>
    certificates.map(({ variable, validities }) => {
      const { kind, words } = judgeValidity(validities(), clock.nowMicros())
      const isValid = kind === 'valid' || kind === 'ends-soon'
      // The words for a valid one have no verb.
      return { kind, sentence: `the certificate of ${variable} ${isValid ? `is ${words}` : words}` }
    })
  /** Why the process cannot work with others; null: all are valid. */
  const problem = (): string | null => {
    const found = verdicts().find(({ kind }) => kind === 'ended' || kind === 'not-begun')
    if (found === undefined) return null
    const { sentence } = found
    lines.write(sentence, () => logger.error(`${sentence}: renew it, and replace the file`))
    return sentence
  }
  /** What an operator must know while they are valid; null: nothing. */
  const detail = (): string | null => {
    const ending = verdicts().filter(({ kind }) => kind === 'ends-soon')
    for (const { sentence } of ending) lines.write(sentence, () => logger.warn(sentence))
    const sentences = ending.map(({ sentence }) => sentence).join('; ')
    return sentences === '' ? null : `${sentences}. Renew it, and replace the file`
  }
  return {
    areValid: (): boolean => problem() === null,
    detail,
    /** @throws {ScanError} CERTIFICATE_EXPIRED. */
    assertValid(): void {
      const sentence = problem()
      if (sentence === null) return
      throw new ScanError('CERTIFICATE_EXPIRED', `${sentence}: renew it, and replace the file.`)
    },
  }
}
