export { type Backoff, backoffMs, concatBytes, singleFlight, utf8 } from '@quorumscan/verifier'
export { AssertionError, assert, unreachable } from './assert.ts'
export { bytesEqual, fromHex, fromUtf8, toBase64, toHex } from './bytes.ts'
export {
  type ClientTls,
  type ClientTlsFiles,
  demandCertificate,
  demandKey,
  type NamedFile,
  openClientTls,
  readNamedFile,
  readNamedText,
  readOwnCertificate,
} from './client-tls.ts'
export { type Clock, createSystemClock, MICROS_PER_MS } from './clock.ts'
export {
  CONFIGURATION_EXIT,
  type Env,
  EnvError,
  type EnvReader,
  type Meaning,
  type NoteVariable,
  readEnv,
  type Variable,
} from './env.ts'
export { describeFileError } from './file-errors.ts'
export {
  createKeyPair,
  type KeyPair,
  keyPairFromSeed,
  sha256,
  sha256Hex,
  verifySignature,
} from './keys.ts'
export { writeLossily } from './lossy-output.ts'
export { packageRoot } from './package-root.ts'
export { ByteReader, ByteWriter } from './packed-bytes.ts'
export { type Random, randomHex, systemRandom } from './random.ts'
export { openAll, Resources } from './resources.ts'
export { retry } from './retry.ts'
export { type Running, runProcess, surviveLostOutput } from './run-process.ts'
export { parseKeyFile, readKeyPair, readParsed, readSecret } from './secrets.ts'
export { readVarint, splitFrames } from './split-frames.ts'
export { waitFor } from './wait-for.ts'
export { anySignal, within } from './within.ts'
