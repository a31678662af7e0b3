export { startValidator } from './server.ts'
