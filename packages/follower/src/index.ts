export type { Background } from './background.ts'
export { type Follower, openFollower } from './follower.ts'
