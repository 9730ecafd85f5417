/** Domains with keys, and what others say of signatures by them. */
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { dkimVerify } from 'mailauth';
import type { DkimAlgorithm, DomainKey, SendingDomain } from '../../src/domain/domain-keys.ts';
import type { Content } from '../../src/domain/message.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { type Log, silentLog } from '../../src/lib/log.ts';
import { createSigningKeys } from '../../src/signing/keys.ts';
import { MailSigner } from '../../src/signing/signer.ts';

const VERIFIER = fileURLToPath(new URL('../mail/verify_dkim.py', import.meta.url));
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Debian's package is seen by Debian's Python. Others of the name may be scripts that choose a version: ten processes each time. */
const PYTHONS = ['/usr/bin/python3', 'python3'];

/** When messages of tests are signed, in wall ms. */
export const SIGNED_AT = 1_790_000_000_000;
const FIXED: Clock = { wall: () => SIGNED_AT, mono: () => 0, sleep: async () => {} };

/** A key that signs, of a pair made for it. */
export function domainKey(selector: string, algorithm: DkimAlgorithm): DomainKey {
  const pair = algorithm === 'rsa-sha256' ? rsaPair() : generateKeyPairSync('ed25519');
  return {
    selector,
    algorithm,
    createdAt: 1,
    activeSince: 1,
    retiredAt: null,
    publicKey: publicPart(pair.publicKey, algorithm),
    privateKey: pair.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
  };
}

let pairs = 0;
const PAIRS = [0, 1].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 }));

/** Making one takes long: two are enough to tell them apart. */
function rsaPair() {
  const pair = PAIRS[pairs++ % PAIRS.length];
  if (pair === undefined) throw new Error('there is no pair');
  return pair;
}

/** RFC 8463 §4.2: an Ed25519 key stands there without its envelope. */
function publicPart(key: KeyObject, algorithm: DkimAlgorithm): string {
  const der = key.export({ format: 'der', type: 'spki' });
  return (algorithm === 'rsa-sha256' ? der : der.subarray(-32)).toString('base64');
}

/** A domain that signs with keys of both kinds, `rsa` and `ed`, unless told otherwise. */
export function sendingDomain(name: string, keys?: readonly DomainKey[]): SendingDomain {
  return {
    name,
    since: 1,
    returnPath: null,
    keys: keys ?? [domainKey('rsa', 'rsa-sha256'), domainKey('ed', 'ed25519-sha256')],
  };
}

/** Signs for these domains, always at the same time. */
export function signerFor(
  domains: readonly SendingDomain[],
  log: Log = silentLog,
  clock = FIXED,
): MailSigner {
  const keysOf = createSigningKeys();
  return new MailSigner({ keys: () => keysOf(domains), clock, log });
}

/** What the DNS says of the keys of these domains. */
export function recordsOf(domains: readonly SendingDomain[]): Record<string, string> {
  const rows = domains.flatMap(({ name, keys }) =>
    keys.map(({ selector, algorithm, publicKey }) => [
      `${selector}._domainkey.${name}`,
      `v=DKIM1; k=${algorithm === 'rsa-sha256' ? 'rsa' : 'ed25519'}; p=${publicKey}`,
    ]),
  );
  return Object.fromEntries(rows);
}

/** A content of these bytes. */
export function contentOf(bytes: Uint8Array | readonly Uint8Array[]): Content {
  const chunks = bytes instanceof Uint8Array ? [bytes] : bytes;
  const sizeBytes = chunks.reduce((sum, { length }) => sum + length, 0);
  return { chunks, sizeBytes, flags: { eightBit: false, utf8: false, dotStuffing: false } };
}

/** What mailauth says of each signature: `pass`, or something else. */
export async function askMailauth(message: Buffer, records: Record<string, string>): Promise<string[]> {
  const resolver = async (name: string) => {
    const record = records[name];
    if (record === undefined) throw Object.assign(new Error('no record'), { code: 'ENOTFOUND' });
    return [[record]];
  };
  const { results } = await dkimVerify(message, { resolver });
  return results.map(({ status }) => status.result);
}

/** What python3-dkim says of each signature of each message: true, or something else. */
export function askPython(messages: readonly Buffer[], records: Record<string, string>): unknown[][] {
  const input = JSON.stringify({ records, messages: messages.map((message) => message.toString('base64')) });
  const { stdout, stderr, status } = spawnSync(pythonWithDkim() ?? '', [VERIFIER], {
    input,
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  if (status !== 0) throw new Error(`${VERIFIER}: ${stderr}`);
  return JSON.parse(stdout) as unknown[][];
}

/** A Python with the package; null when there is none. */
export function pythonWithDkim(): string | null {
  return PYTHONS.find((python) => spawnSync(python, ['-c', 'import dkim, nacl']).status === 0) ?? null;
}
