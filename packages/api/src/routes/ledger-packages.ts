/** Packages, which of them are in force, and the issuer of tokens (D-28, D-31, D-32). */
import { COST_LIST } from '../cost.ts'
import { defineRoutes, route } from '../route-def.ts'
import * as packages from '../schemas/ledger/packages.ts'

const read = { tag: 'packages', auth: 'user' } as const
const ofPackage = { ...read, params: packages.packageParams } as const
/** A request may name many parties. */
const preferred = { ...read, cost: COST_LIST } as const
const vetted = {
  ...read,
  body: packages.VettedPackagesRequest,
  response: packages.VettedPackagesAnswer,
} as const
const issuers = { tag: 'issuers', auth: 'admin' } as const

export const ledgerPackageRoutes = defineRoutes({
  listPackages: route('GET /v2/packages', read, {
    summary: 'The ids of the packages that this participant knows.',
    response: packages.PackagesAnswer,
  }),
  getPackage: route('GET /v2/packages/{packageId}', ofPackage, {
    summary: 'The definitions of a package.',
    description: 'Canonical JSON (RFC 8785) in UTF-8. Its SHA-256 hash, in hex, is the id.',
    response: 'bytes',
    errorStatuses: [404],
  }),
  getPackageStatus: route('GET /v2/packages/{packageId}/status', ofPackage, {
    summary: 'Whether this participant knows a package.',
    response: packages.PackageStatusAnswer,
  }),
  getVettedPackages: route('GET /v2/package-vetting', vetted, {
    summary: 'The packages in force.',
    description:
      'The request is in the body, as in upstream. Clients that cannot send a body with a GET use the POST.',
  }),
  listVettedPackages: route('POST /v2/package-vetting/list', vetted, {
    summary: 'The packages in force.',
  }),
  getPreferredPackageVersion: route(
    'GET /v2/interactive-submission/preferred-package-version',
    preferred,
    {
      summary: 'The newest package of a name that is in force.',
      query: packages.PreferredPackageQuery,
      response: packages.PreferredPackageAnswer,
    },
  ),
  getPreferredPackages: route('POST /v2/interactive-submission/preferred-packages', preferred, {
    summary: 'The newest packages of some names that are in force.',
    body: packages.PreferredPackagesRequest,
    response: packages.PreferredPackagesAnswer,
  }),
  listIdps: route('GET /v2/idps', issuers, {
    summary: 'The issuer of the tokens.',
    response: packages.IdpsAnswer,
  }),
  getIdp: route('GET /v2/idps/{idpId}', issuers, {
    summary: 'The issuer of the tokens, by its id.',
    params: packages.idpParams,
    response: packages.IdpAnswer,
    errorStatuses: [404],
  }),
})
