import { z } from 'zod';
import { MAX_PASSWORD, type Role } from '../domain/account.ts';
import { userName } from '../operations/accounts.ts';
import type { Topic } from '../operations/operation.ts';
import type { ResultOf } from '../operations/table.ts';

/**
 * What the dashboard's page and server exchange besides operations, which are called by `POST /api/call/<operation>`.
 * Only this file and `src/operations` are visible to `web/`, as types.
 */

/** `GET /api/session`: the user, as far as known. */
export type SessionView =
  /** Nobody has claimed the dashboard yet: the set-up link is needed. */
  | { readonly state: 'setup' }
  | { readonly state: 'anonymous' }
  /** The password was right; a code of the second factor is needed. */
  | { readonly state: 'second_factor' }
  | {
      readonly state: 'signed_in';
      readonly version: string;
      readonly user: SessionUser;
      /** Nobody has to sign in here, so that there is no signing out, no password and no other session. */
      readonly resident: boolean;
      /** The session ends after this idle time. */
      readonly idleMs: number;
      /** How to reach the API, as far as the server knows: for examples to paste. */
      readonly apiUrl: string | null;
      readonly smtp: { readonly host: string; readonly port: number } | null;
      /** First steps taken, or skipped. */
      readonly firstSteps: FirstSteps;
    };

/** The signed-in user. */
export interface SessionUser {
  readonly name: string;
  readonly role: Role;
  readonly secondFactor: boolean;
  readonly recoveryCodesLeft: number;
  /** The id of the current session. */
  readonly session: string;
}

/** The user's progress on the guided path. */
export interface FirstSteps {
  readonly skipped: boolean;
  readonly hasKey: boolean;
  readonly hasMessage: boolean;
  readonly hasRelay: boolean;
}

/** A code point may take two units. */
const password = z.string().max(2 * MAX_PASSWORD);
const token = z.string().max(100);
const code = z.string().max(50);
const nothing = z.strictObject({});

/** The request of each `POST /api/session/<name>`. A refusal is a problem (RFC 9457). */
export const SESSION_REQUESTS = {
  /** Uses the token of a set-up link: chooses a password (and, the very first time, a name), and signs in. */
  setup: z.strictObject({ token, name: userName.nullable(), password }),
  /** The purpose of a set-up link, before it is used. */
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
  /** The user's own sessions, for every role; the most recently used first. */
  sessions: nothing,
  /** Ends one of them; 0 if it has ended already, or is another user's. */
  end_session: z.strictObject({ id: z.string().max(64) }),
  /** Ends all other sessions of the user. */
  sign_out_others: nothing,
  first_steps: z.strictObject({ skipped: z.boolean() }),
};

/** The answers other than a {@link SessionView}. */
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
  /** What may have changed: the page reloads what it shows of it. */
  readonly topics: readonly Topic[];
  /** The messages concerned, if they are few. */
  readonly ids?: readonly string[];
}

/** What the page posts to the frame of `GET /preview/draft`, which shows a mail that is being written. */
export interface DraftShown {
  /** The HTML of the mail. */
  readonly html: string;
  /**
   * How it is shown: `light`; `dark` where its own styles for dark mode hold; `turned` as clients do that turn the colours
   * of a mail without such styles.
   */
  readonly scheme: 'light' | 'dark' | 'turned';
}
