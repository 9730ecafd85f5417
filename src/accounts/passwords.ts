import { argon2, timingSafeEqual } from 'node:crypto';
import { MAX_PASSWORD, MIN_PASSWORD } from '../domain/account.ts';
import { sourceGroup } from '../lib/network.ts';
import type { Random } from '../lib/random.ts';

/** The cost of argon2id: 32 MiB and three passes, in one lane (RFC 9106); about a tenth of a second. */
const COST: Cost = { memoryKib: 32 * 1024, passes: 3, lanes: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Hashes computed at once: each holds its memory, and one of the four threads that also read files. */
const AT_ONCE = 2;
/** Callers that may wait. */
const MAX_WAITING = 64;

interface Cost {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

interface Stored extends Cost {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const PHC = /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,4}),p=(\d{1,3})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
/** The highest cost accepted from a stored hash. */
const MAX_COST: Cost = { memoryKib: 1024 * 1024, passes: 100, lanes: 16 };

/** Too many passwords are being checked; this one was not. Trying again helps. */
export class PasswordsBusy extends Error {
  constructor() {
    super('Too many passwords are being checked at once.');
    this.name = 'PasswordsBusy';
  }
}

/** Hashes and verifies passwords, off the event loop, a few at a time. */
export class Passwords {
  readonly #random: Random;
  readonly #cost: Cost;
  readonly #turnstile = new Turnstile(AT_ONCE, MAX_WAITING);
  /** A hash that no password matches, so that an unknown name takes as long as a known one. */
  readonly #decoy: string;

  /** `cost` is for tests, which check many passwords. */
  constructor(random: Random, cost: Cost = COST) {
    this.#random = random;
    this.#cost = cost;
    this.#decoy = phc({
      ...cost,
      salt: Buffer.from(random.fill(new Uint8Array(SALT_BYTES))),
      hash: Buffer.from(random.fill(new Uint8Array(HASH_BYTES))),
    });
  }

  /**
   * A password's hash: a PHC string with its own salt. `source`: the address of the caller, which has its share of the
   * queue; empty for this machine. Rejects with {@link PasswordsBusy}.
   */
  async hash(password: string, source = ''): Promise<string> {
    const salt = Buffer.from(this.#random.fill(new Uint8Array(SALT_BYTES)));
    const hash = await this.#derive(password, salt, HASH_BYTES, this.#cost, source);
    return phc({ ...this.#cost, salt, hash });
  }

  /**
   * Whether the password matches `stored`. Null, for a name without one, takes as long and is false. `source` as for
   * {@link hash}. Rejects with {@link PasswordsBusy}.
   */
  async verify(password: string, stored: string | null, source = ''): Promise<boolean> {
    const known = stored === null ? null : readPhc(stored);
    const against = known ?? readPhc(this.#decoy);
    if (against === null) return false;
    const hash = await this.#derive(password, against.salt, against.hash.length, against, source);
    return timingSafeEqual(hash, against.hash) && known !== null;
  }

  async #derive(password: string, salt: Buffer, length: number, cost: Cost, source: string): Promise<Buffer> {
    const leave = await this.#turnstile.enter(source);
    if (leave === null) throw new PasswordsBusy();
    try {
      return await derive(password, salt, length, cost);
    } finally {
      leave();
    }
  }
}

function derive(password: string, salt: Buffer, length: number, cost: Cost): Promise<Buffer> {
  // Composed and decomposed characters are the same password, however typed.
  const message = Buffer.from(password.normalize('NFC'), 'utf8');
  const { memoryKib: memory, passes, lanes: parallelism } = cost;
  const options = { message, nonce: salt, parallelism, tagLength: length, memory, passes };
  return new Promise((resolve, reject) => {
    argon2('argon2id', options, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

function phc({ memoryKib, passes, lanes, salt, hash }: Stored): string {
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$${unpadded(salt)}$${unpadded(hash)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

function readPhc(text: string): Stored | null {
  const [, memory, passes, lanes, salt = '', hash = ''] = PHC.exec(text) ?? [];
  const cost = { memoryKib: Number(memory), passes: Number(passes), lanes: Number(lanes) };
  const isBearable =
    cost.memoryKib <= MAX_COST.memoryKib && cost.passes <= MAX_COST.passes && cost.lanes <= MAX_COST.lanes;
  return isBearable
    ? { ...cost, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') }
    : null;
}

/** Waiting callers of one network: an IPv4 address, or the /48 that a provider gives a customer. */
const MAX_OF_NETWORK = 4;

/** Admits a few callers at a time; others queue, up to a limit, and networks are served in turn. */
export class Turnstile {
  readonly #atOnce: number;
  readonly #maxWaiting: number;
  /** By network; the most recently served is last. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #inLine = 0;
  #inside = 0;

  constructor(atOnce: number, maxWaiting: number) {
    this.#atOnce = atOnce;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Resolves, on the caller's turn, with a function to call on leaving; null at once if too many wait, in all or of the
   * network of `source` (an address; empty for this machine).
   */
  async enter(source: string): Promise<(() => void) | null> {
    if (this.#inside < this.#atOnce) this.#inside++;
    else {
      const network = networkOf(source);
      const line = this.#waiting.get(network) ?? [];
      if (this.#inLine >= this.#maxWaiting || line.length >= MAX_OF_NETWORK) return null;
      this.#waiting.set(network, line);
      this.#inLine++;
      // A slot is passed to the next in line.
      await new Promise<void>((resolve) => line.push(resolve));
    }
    return () => this.#leave();
  }

  #leave(): void {
    for (const [network, line] of this.#waiting) {
      const next = line.shift();
      this.#waiting.delete(network);
      if (next === undefined) continue;
      if (line.length > 0) this.#waiting.set(network, line);
      this.#inLine--;
      next();
      return;
    }
    this.#inside--;
  }
}

function networkOf(source: string): string {
  const group = sourceGroup(source);
  return group.includes(':') ? group.split(':').slice(0, 3).join(':') : group;
}

/** The fault of a chosen password; null if there is none. `name` is the user's. */
export function passwordFault(password: string, name: string): string | null {
  const { length } = [...password];
  if (length < MIN_PASSWORD) return `must have at least ${MIN_PASSWORD} characters`;
  if (length > MAX_PASSWORD) return `may have at most ${MAX_PASSWORD} characters`;
  if (!password.isWellFormed() || /\p{Cc}/u.test(password)) return 'must have no control characters';
  if (new Set(password).size < 4) return 'must have at least 4 different characters';
  if (password.toLowerCase() === name) return 'must not be the name itself';
  return null;
}
