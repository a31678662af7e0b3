export { budgetsOf, type ServiceMargin } from './budgets.ts'
export { LIES } from './lies.ts'
export * from './timeline.ts'
export * from './words.ts'
