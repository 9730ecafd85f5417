import { z } from 'zod';
import { MAX_PASSWORD, type Role } from '../domain/account.ts';
import type { Topic } from '../operations/operation.ts';
import type { ResultOf } from '../operations/table.ts';

/**
 * What the dashboard's page and its server say to each other besides operations, which are asked for by
 * `POST /api/call/<operation>`. This file and `src/operations` are all that `web/` may see, as types.
 */

/** `GET /api/session`: who asks, as far as is known. */
export type SessionView =
  /** Nobody has claimed the dashboard yet: it wants the set-up link. */
  | { readonly state: 'setup' }
  | { readonly state: 'anonymous' }
  /** The password was right; a code of the second factor is wanted. */
  | { readonly state: 'second_factor' }
  | {
      readonly state: 'signed_in';
      readonly version: string;
      readonly user: SessionUser;
      /** Idle for so long, the session ends. */
      readonly idleMs: number;
      /** How to reach the API, as far as the server knows: for examples to paste. */
      readonly apiUrl: string | null;
      readonly smtp: { readonly host: string; readonly port: number } | null;
      /** First steps that were taken, or skipped. */
      readonly firstSteps: FirstSteps;
    };

/** The one who is signed in. */
export interface SessionUser {
  readonly name: string;
  readonly role: Role;
  readonly secondFactor: boolean;
  readonly recoveryCodesLeft: number;
  /** The id of the session that asks. */
  readonly session: string;
}

/** How far someone is on the guided path. */
export interface FirstSteps {
  readonly skipped: boolean;
  readonly hasKey: boolean;
  readonly hasMessage: boolean;
  readonly hasRelay: boolean;
}

/** What a user is called when signing in. */
const newName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._@-]{0,63}$/,
    'must be 1 to 64 of a-z 0-9 . _ @ -, beginning with a letter or digit',
  );
/** Code points may take two units each. */
const password = z.string().max(2 * MAX_PASSWORD);
const token = z.string().max(100);
const code = z.string().max(50);
const nothing = z.strictObject({});

/** The request of each `POST /api/session/<name>`. A refusal is a problem (RFC 9457). */
export const SESSION_REQUESTS = {
  /** By the token of a set-up link: chooses a password (and, first of all, a name), and signs in. */
  setup: z.strictObject({ token, name: newName.nullable(), password }),
  /** What a set-up link is for, before it is used. */
  link: z.strictObject({ token }),
  login: z.strictObject({ name: z.string().max(200), password }),
  /** A code of the second factor, or a recovery code. */
  second_factor: z.strictObject({ code }),
  logout: nothing,
  password: z.strictObject({ current: password, next: password }),
  /** Begins to set up the second factor; nothing changes until it is confirmed. */
  totp_begin: z.strictObject({ password }),
  totp_confirm: z.strictObject({ code }),
  totp_remove: z.strictObject({ password }),
  /** The sessions of the one who asks, whatever their role; the one used last first. */
  sessions: nothing,
  /** Ends one of them; 0 where it has ended already, or is somebody else's. */
  end_session: z.strictObject({ id: z.string().max(64) }),
  /** Ends every other session of the one who asks. */
  sign_out_others: nothing,
  first_steps: z.strictObject({ skipped: z.boolean() }),
};

/** The answers that are not a {@link SessionView}. */
interface OtherAnswers {
  readonly link: { readonly name: string | null; readonly expiresAt: string };
  /** The secret in base32, and the same as an `otpauth:` URL and as rows of a QR code, `1` for black. */
  readonly totp_begin: { readonly secret: string; readonly url: string; readonly qr: readonly string[] };
  /** Shown once. */
  readonly totp_confirm: { readonly recoveryCodes: readonly string[] };
  readonly sessions: ResultOf<'sessions'>;
  readonly end_session: { readonly ended: number };
  readonly sign_out_others: { readonly ended: number };
}

/** The name of a call. */
export type CallName = keyof typeof SESSION_REQUESTS;

/** `POST /api/session/<name>`: requests and answers. */
export type SessionCalls = {
  readonly [Name in CallName]: {
    readonly request: z.infer<(typeof SESSION_REQUESTS)[Name]>;
    readonly answer: Name extends keyof OtherAnswers ? OtherAnswers[Name] : SessionView;
  };
};

/** `GET /api/events`: the data of an event `hint`. */
export interface Hint {
  /** What may have changed: the page asks again for what it shows of it. */
  readonly topics: readonly Topic[];
  /** Messages it is about, when they are few. */
  readonly ids?: readonly string[];
}
