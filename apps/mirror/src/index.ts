export { buildMirror, type MirrorOptions } from './mirror.ts'
