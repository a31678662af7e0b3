/** What clients of the upstream network ask of any scan: names, features, and the registry of tokens. */
import { Type } from 'typebox'
import { Contract } from './contracts.ts'
import * as m from './members.ts'
import { ContractIdInput, Party, WELL_FORMED_PATTERN } from './scalars.ts'

export const InstanceNamesAnswer = m.component('InstanceNamesAnswer', 'Names to show to users.', {
  network_name: m.string('The name of the network.'),
  network_favicon_url: m.string('Always empty: it has no picture.'),
  amulet_name: m.string('The name of the coin.'),
  amulet_name_acronym: m.string('Its symbol.'),
  name_service_name: m.string('The name of the name service.'),
  name_service_name_acronym: m.string('Its symbol.'),
})

export const FeatureSupportAnswer = m.component(
  'FeatureSupportAnswer',
  'Optional features. None is listed, because upstream lists none.',
  {},
)

export const ClosedRoundsAnswer = m.component('ClosedRoundsAnswer', 'Closed rounds.', {
  rounds: m.array('Always empty: nothing remains to be done once a round is closed.', Contract),
})

export const FeaturedAppsAnswer = m.component('FeaturedAppsAnswer', 'Rights of featured apps.', {
  featured_apps: m.array('Always empty: such rights do not exist.', Contract),
})

export const FeaturedAppAnswer = m.component('FeaturedAppAnswer', 'The right of a featured app.', {
  featured_app_right: Type.Optional(m.about(Contract, 'Always absent: such rights do not exist.')),
})

export const providerParams = Type.Object({ provider_party_id: Party })
export const featuredContractParams = Type.Object({ contract_id: ContractIdInput })

const SupportedApis = Type.Record(Type.String(), m.integer(0, 'The minor version.'), {
  description: 'Interfaces of the token standard, with their minor versions.',
})

export const RegistryInfoAnswer = m.component('RegistryInfoAnswer', 'The registry of tokens.', {
  adminId: m.about(Party, 'The operator party, which administers the instrument.'),
  supportedApis: SupportedApis,
})

const Instrument = m.component('Instrument', 'A token.', {
  id: m.string('Its id, as holdings name it.'),
  name: m.string('Its name.'),
  symbol: m.string('Its symbol.'),
  decimals: m.integer(0, 'Fractional digits of an amount.', { maximum: 10 }),
  paused: m.boolean('Whether transfers are stopped: always false.'),
  supportedApis: SupportedApis,
})
export const InstrumentAnswer = Instrument

export const InstrumentsAnswer = m.component('InstrumentsAnswer', 'The tokens of the registry.', {
  instruments: m.array('The coin.', Instrument),
})

export const instrumentsQuery = {
  pageSize: m.omittable(m.integer(1, '', { maximum: 1000 }), 'Instruments at most. There is one.'),
  pageToken: Type.Optional(m.bounded(Type.String(), 'Empty: there is one page.', { maxLength: 0 })),
}

export const instrumentParams = Type.Object({
  instrumentId: m.formed(WELL_FORMED_PATTERN, 'The id of the instrument.', { maxLength: 255 }),
})
