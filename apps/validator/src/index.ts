export { type Overrides, startValidator } from './server.ts'
