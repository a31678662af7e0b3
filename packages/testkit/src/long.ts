/** Whether this run is a part of `npm run test:long`, which sets `TEST_LONG` (test/long/main.ts). */
export const isLong = process.env['TEST_LONG'] === '1'

/** How many cases a test tries: `usual` in `npm test`, `long` in `npm run test:long`. */
export function cases(usual: number, long: number): number {
  return isLong ? long : usual
}
