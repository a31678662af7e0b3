export { LIES } from './lies.ts'
export { marginsOf, type ServiceMargin } from './service-margins.ts'
export * from './timeline.ts'
export * from './words.ts'
