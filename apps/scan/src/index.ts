export { startScan } from './server.ts'
