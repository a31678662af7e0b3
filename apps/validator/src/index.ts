export { type Overrides, type RunningValidator, startValidator } from './start.ts'
