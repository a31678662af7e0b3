export type { Overrides } from './context.ts'
export { type RunningValidator, startValidator } from './start.ts'
