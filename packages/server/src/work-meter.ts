/** Prices of work whose size is known only when it was done (D-93). */

/** Rows of the replica that a unit pays for: reading and decoding one takes up to 0.1 ms. */
const ROWS_PER_UNIT = 5
/** Characters of JSON that a unit pays for, if they were made for the request: 15 kB take 1 ms. */
const BYTES_PER_UNIT = 4096

/** Counts work that was done. */
export function createWorkMeter() {
  let work = 0
  return {
    /** Rows that were read. */
    countRows(rows: number): void {
      work += rows / ROWS_PER_UNIT
    },
    /** JSON that was made. Bytes that are stored ready to send do not count. */
    countBytes(bytes: number): void {
      work += bytes / BYTES_PER_UNIT
    },
    /** Whole units that were counted and not taken yet. */
    takeUnits(): number {
      const units = Math.floor(work)
      work -= units
      return units
    },
  }
}
