export { type Background, createBackground } from './background.ts'
export { type Follower, openFollower } from './follower.ts'
