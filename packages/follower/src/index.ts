export { type Background, type Follower, openFollower } from './follower.ts'
