/**
 * Reads that clients of the upstream network make of any scan: names to show, features, and the registry of tokens (token
 * standard, metadata). What this network has none of is empty. Equal on all nodes, so that the scan proxy can compare them.
 */
import type { scanRoutes } from '@quorumscan/api'
import { ScanError } from '@quorumscan/errors'
import { INSTRUMENT_ID } from '@quorumscan/model'
import type { Handlers } from '@quorumscan/server'
import type { Genesis } from '@quorumscan/verifier'
import { pinFor, pinnedHeaders, type ReadRequest, type Reads } from '../pinned.ts'

type UpstreamHandlers = Pick<
  Handlers<typeof scanRoutes>,
  | 'getSpliceInstanceNames'
  | 'getFeatureSupport'
  | 'listClosedRounds'
  | 'listFeaturedApps'
  | 'getFeaturedApp'
  | 'listFeaturedAppsByProvider'
  | 'getFeaturedAppByContractId'
  | 'getRegistryInfo'
  | 'listInstruments'
  | 'getInstrument'
>

const NAMES = {
  network_name: 'Quorumscan',
  network_favicon_url: '',
  amulet_name: 'Coin',
  amulet_name_acronym: 'COIN',
  name_service_name: 'Name Service',
  name_service_name_acronym: 'NS',
}
/** The interfaces of the token standard, with their minor versions. */
const SUPPORTED = { 'splice-api-token-metadata-v1': 1 }
const COIN = {
  id: INSTRUMENT_ID,
  name: NAMES.amulet_name,
  symbol: NAMES.amulet_name_acronym,
  decimals: 10,
  paused: false,
  supportedApis: SUPPORTED,
}

export function createUpstreamHandlers(context: {
  readonly reads: Reads
  readonly genesis: Pick<Genesis, 'dso'>
}): UpstreamHandlers {
  const { reads, genesis } = context
  /** A handler of an answer that is the same at every offset. */
  const constant =
    <Body extends object>(body: Body) =>
    async (request: ReadRequest) => ({ headers: pinnedHeaders(await pinFor(reads, request)), body })
  const noApps = constant({ featured_apps: [] })
  const noApp = constant({})
  const coin = constant(COIN)

  return {
    getSpliceInstanceNames: constant(NAMES),
    getFeatureSupport: constant({}),
    listClosedRounds: constant({ rounds: [] }),
    listFeaturedApps: noApps,
    getFeaturedApp: noApp,
    listFeaturedAppsByProvider: noApps,
    getFeaturedAppByContractId: noApp,
    getRegistryInfo: constant({ adminId: genesis.dso, supportedApis: SUPPORTED }),
    listInstruments: constant({ instruments: [COIN] }),
    async getInstrument(request) {
      if (request.params.instrumentId !== INSTRUMENT_ID)
        throw new ScanError(
          'INSTRUMENT_NOT_FOUND',
          `The registry has one instrument, ${INSTRUMENT_ID}.`,
        )
      return await coin(request)
    },
  }
}
