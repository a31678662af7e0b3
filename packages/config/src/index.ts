export {
  type AppConfig,
  GENESIS_VARIABLE,
  readAppConfig,
  readFollowerConfig,
  readLogClientOptions,
  readOptionalUrl,
  readUrls,
} from './app-config.ts'
export { type ConnectionsConfig, PLAIN_CONNECTIONS } from './connections-config.ts'
export { addTo, familyOf, type ProxiesConfig, parseProxies } from './proxies.ts'
export { readScanConfig, type ScanConfig } from './scan-config.ts'
export {
  type EngineConfig,
  type Rates,
  readSynchronizerConfig,
  type SynchronizerConfig,
} from './synchronizer-config.ts'
export { readValidatorConfig, type ValidatorConfig } from './validator-config.ts'
