/** How a log is ordered. */
export const ORDERING_DRIVERS = ['redis', 'cometbft'] as const
export type OrderingDriver = (typeof ORDERING_DRIVERS)[number]
