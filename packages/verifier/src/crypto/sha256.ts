/**
 * SHA-256 in plain script (FIPS 180-4), for pages: trees are hashed in many small pieces, and each digest of
 * WebCrypto has to be awaited, which costs ten times the hash. 0.6 kB packed, a quarter of what packages for many
 * hashes bring. Node has a quicker one: `hash` of node:crypto.
 */

const BLOCK_BYTES = 64
const ROUNDS = 64
/** The first 32 fractional bits of the cube roots of the first primes, and of the square roots of the first eight. */
const [CUBE_ROOTS, SQUARE_ROOTS] = rootsOfPrimes()
const schedule = new Uint32Array(ROUNDS)

/** SHA-256 of less than 2^29 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { length } = bytes
  // A bit, and the length in bits, of which the upper half of 64 is zero.
  const padded = new Uint8Array(Math.ceil((length + 9) / BLOCK_BYTES) * BLOCK_BYTES)
  padded.set(bytes)
  padded[length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 4, length << 3)

  const state = SQUARE_ROOTS.slice()
  for (let start = 0; start < padded.length; start += BLOCK_BYTES) addBlock(state, view, start)
  const digest = new Uint8Array(32)
  const words = new DataView(digest.buffer)
  for (const [index, word] of state.entries()) words.setUint32(4 * index, word)
  return digest
}

function addBlock(state: Uint32Array, view: DataView, start: number): void {
  let [a, b, c, d, e, f, g, h] = state as unknown as Eight
  for (let round = 0; round < ROUNDS; round++) {
    let word = 0
    if (round < 16) word = view.getUint32(start + 4 * round)
    else {
      const [early, late] = [at(schedule, round - 15), at(schedule, round - 2)]
      const mixedEarly = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)
      const mixedLate = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10)
      word = at(schedule, round - 16) + mixedEarly + at(schedule, round - 7) + mixedLate
    }
    schedule[round] = word
    const mixedE = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)
    const mixedA = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)
    const added = h + mixedE + ((e & f) ^ (~e & g)) + at(CUBE_ROOTS, round) + at(schedule, round)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    h = g
    g = f
    f = e
    e = (d + added) | 0
    d = c
    c = b
    b = a
    a = (added + mixedA + majority) | 0
  }
  const mixed: Eight = [a, b, c, d, e, f, g, h]
  for (let index = 0; index < 8; index++) state[index] = at(state, index) + (mixed[index] as number)
}

type Eight = [number, number, number, number, number, number, number, number]

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

function at(words: Uint32Array, index: number): number {
  return words[index] as number
}

/**
 * Roots as floating point numbers have 18 bits more than are used, so that what platforms differ in, the last
 * one or two, changes none: the test measures how far each is from that.
 */
function rootsOfPrimes(): readonly [Uint32Array, Uint32Array] {
  const primes: number[] = []
  for (let number = 2; primes.length < ROUNDS; number++)
    if (primes.every((prime) => number % prime !== 0)) primes.push(number)
  const fractions = (power: number) => Uint32Array.from(primes, (prime) => prime ** power * 2 ** 32)
  return [fractions(1 / 3), fractions(1 / 2).slice(0, 8)]
}
