export { type AppConfig, GENESIS_VARIABLE, readLogClientOptions } from './app-config.ts'
export {
  addTo,
  familyOf,
  PLAIN_CONNECTIONS,
  type ProxiesConfig,
  parseProxies,
} from './connections-config.ts'
export { readScanConfig, type ScanConfig } from './scan-config.ts'
export * from './synchronizer-config.ts'
export { readValidatorConfig, type ValidatorConfig } from './validator-config.ts'
