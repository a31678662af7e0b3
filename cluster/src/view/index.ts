export { budgetsOf, type ServiceMargin } from './service-margins.ts'
export { LIES } from './lies.ts'
export * from './timeline.ts'
export * from './words.ts'
