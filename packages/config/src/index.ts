export {
  type AppConfig,
  type EnginePeers,
  GENESIS_VARIABLE,
  openNodeTokens,
  parsePeersFile,
  readLogClientOptions,
} from './app-config.ts'
export { certificateFilesOf } from './certificate-files.ts'
export {
  addTo,
  familyOf,
  PLAIN_CONNECTIONS,
  type ProxiesConfig,
  parseAddress,
  parseProxies,
  readOperatorAddress,
} from './connections-config.ts'
export * from './genesis-agreement.ts'
export { readProcessConfig } from './process-config.ts'
export { RUN_VARIABLES } from './run-variables.ts'
export { readScanConfig, type ScanConfig } from './scan-config.ts'
export * from './synchronizer-config.ts'
export { parseSharedSecret, readValidatorConfig, type ValidatorConfig } from './validator-config.ts'
