/** The one issuer of tokens, as an identity provider (D-32). */
import { LedgerError } from '@quorumscan/errors'
import { invalidField, isLedgerString, quoted } from '../commands/grammar.ts'
import type { LedgerApiDeps } from '../dependencies.ts'
import type { LedgerHandlersOf } from '../http/handler.ts'
import { DEFAULT_PROVIDER } from './handlers.ts'

export function issuerHandlers({
  issuer,
}: Pick<LedgerApiDeps, 'issuer'>): LedgerHandlersOf<'issuers'> {
  const config = {
    identityProviderId: DEFAULT_PROVIDER,
    isDeactivated: false,
    // Tokens of any issuer with these keys are accepted.
    issuer: '',
    ...issuer,
  }
  return {
    listIdps: async () => ({ identityProviderConfigs: [config] }),
    async getIdp({ params: { idpId } }) {
      if (!isLedgerString(idpId))
        throw invalidField('identity_provider_id', `${quoted(idpId)} is no id`)
      if (idpId !== DEFAULT_PROVIDER)
        throw new LedgerError(
          'IDP_CONFIG_NOT_FOUND',
          `The identity provider ${quoted(idpId)} does not exist.`,
        )
      return { identityProviderConfig: config }
    },
  }
}
