import { z } from 'zod';
import { type ApiKey, SCOPES } from '../domain/key.ts';
import { changes, look, type OperationsOf, operation, READ } from './operation.ts';

const keyName = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[^\p{C}]+$/u, 'must be printable');

/** The most source ranges, and the most sender domains, that one key may be bound to. */
const MAX_RESTRICTIONS = 100;

/** Days that contents are kept after the final status; null means `retention.content_days`, 0 not at all. */
const contentDays = z.int().min(0).max(3650).nullable();

/** A key as it is shown: its times as text. */
export interface KeyView extends Omit<ApiKey, 'createdAt' | 'lastUsedAt' | 'expiresAt' | 'revokedAt'> {
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

/** A key that was revoked. */
export interface RevokedKey extends KeyView {
  /** Messages that were cancelled. */
  readonly cancelled: number;
}

/** A key with a new secret. */
export interface CreatedKey {
  readonly key: KeyView;
  readonly secret: string;
}

/** A key with a second secret. */
export interface RotatedKey extends CreatedKey {
  /** Until when the secret of before works, RFC 3339. */
  readonly oldSecretUntil: string;
}

/** A key, by name or id; not when it was last used, which changes by itself. */
const KEY = look<readonly KeyView[]>(
  'listKeys',
  () => ({}),
  (keys, { key, name }) => {
    const wanted = key ?? name;
    const live = keys.find((one) => one.name === wanted && one.revokedAt === null);
    const found = keys.find(({ id }) => id === wanted) ?? live ?? keys.find((one) => one.name === wanted);
    if (found === undefined) return undefined;
    const { lastUsedAt: _, ...rest } = found;
    return rest;
  },
);

/** What operators can ask of API keys, and do to them. */
export const KEY_OPERATIONS = {
  createKey: operation({
    meaning: 'Makes an API key. Its secret is in the result and nowhere else.',
    access: changes({ words: 'Made an API key', subject: 'name', look: KEY, touches: ['keys'] }),
    request: z.strictObject({
      name: keyName,
      test: z.boolean(),
      scopes: z.array(z.enum(SCOPES)).min(1),
      /** Requests a minute; null means the configured default, 0 no limit. */
      rateLimit: z.int().min(0).nullable(),
      /** From when on it is refused, in RFC 3339; null means never. */
      expiresAt: z.string().nullable(),
      /** Source ranges it may be used from; empty means anywhere. */
      cidrs: z.array(z.string()).max(MAX_RESTRICTIONS),
      /** Domains it may send from; empty means any. */
      senderDomains: z.array(z.string()).max(MAX_RESTRICTIONS),
      contentDays: contentDays.default(null),
    }),
    result: z.custom<CreatedKey>(),
  }),
  listKeys: operation({
    meaning: 'Every key, newest first, revoked ones too.',
    access: READ,
    request: z.strictObject({}),
    result: z.custom<readonly KeyView[]>(),
  }),
  revokeKey: operation({
    meaning: 'Revokes a key; what it has queued goes on, or is cancelled.',
    access: changes({ words: 'Revoked an API key', subject: 'key', look: KEY, touches: ['keys', 'queue'] }),
    request: z.strictObject({
      key: z.string(),
      /** Cancels what it has queued, too. */
      cancelQueued: z.boolean().default(false),
    }),
    result: z.custom<RevokedKey>(),
  }),
  updateKey: operation({
    meaning: 'Changes what a key may do; what is null stays as it is.',
    access: changes({ words: 'Changed an API key', subject: 'key', look: KEY, touches: ['keys'] }),
    request: z.strictObject({
      key: z.string(),
      name: keyName.optional(),
      scopes: z.array(z.enum(SCOPES)).min(1).optional(),
      rateLimit: z.int().min(0).nullable().optional(),
      expiresAt: z.string().nullable().optional(),
      cidrs: z.array(z.string()).max(MAX_RESTRICTIONS).optional(),
      senderDomains: z.array(z.string()).max(MAX_RESTRICTIONS).optional(),
      contentDays: contentDays.optional(),
    }),
    result: z.custom<KeyView>(),
  }),
  rotateKey: operation({
    meaning: 'Gives a key a second secret; the old one works for another 24 hours.',
    access: changes({
      words: 'Gave an API key a second secret',
      subject: 'key',
      look: KEY,
      touches: ['keys'],
    }),
    request: z.strictObject({ key: z.string() }),
    result: z.custom<RotatedKey>(),
  }),
};

/** Those who carry them out. */
export type KeyOperations = OperationsOf<typeof KEY_OPERATIONS>;
