/**
 * Headers of every answer of every server: a browser that is led to one shows no foreign script, whatever bytes it has.
 * The console has its own, which let it load its files.
 */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}
