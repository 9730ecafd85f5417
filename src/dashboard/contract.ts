import type { Role } from '../domain/account.ts';
import type { ResultOf } from '../operations/table.ts';

/**
 * What the dashboard's page and its server say to each other besides operations, which are asked for by
 * `POST /api/call/<operation>`. This file and `src/operations/table.ts` are all that `web/` may see, as types.
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

/** `POST /api/session/<name>`: requests and answers. A refusal is a problem (RFC 9457). */
export interface SessionCalls {
  /** By the token of a set-up link: chooses a password (and, first of all, a name), and signs in. */
  readonly setup: {
    readonly request: { readonly token: string; readonly name: string | null; readonly password: string };
    readonly answer: SessionView;
  };
  /** What a set-up link is for, before it is used. */
  readonly link: {
    readonly request: { readonly token: string };
    readonly answer: { readonly name: string | null; readonly expiresAt: string };
  };
  readonly login: {
    readonly request: { readonly name: string; readonly password: string };
    readonly answer: SessionView;
  };
  /** A code of the second factor, or a recovery code. */
  readonly second_factor: { readonly request: { readonly code: string }; readonly answer: SessionView };
  readonly logout: { readonly request: Record<string, never>; readonly answer: SessionView };
  readonly password: {
    readonly request: { readonly current: string; readonly next: string };
    readonly answer: SessionView;
  };
  /** Begins to set up the second factor; nothing changes until it is confirmed. */
  readonly totp_begin: {
    readonly request: { readonly password: string };
    /** The secret in base32, and the same as an `otpauth:` URL and as rows of a QR code, `1` for black. */
    readonly answer: { readonly secret: string; readonly url: string; readonly qr: readonly string[] };
  };
  readonly totp_confirm: {
    readonly request: { readonly code: string };
    /** Shown once. */
    readonly answer: { readonly recoveryCodes: readonly string[] };
  };
  readonly totp_remove: { readonly request: { readonly password: string }; readonly answer: SessionView };
  /** The sessions of the one who asks, whatever their role; the one used last first. */
  readonly sessions: {
    readonly request: Record<string, never>;
    readonly answer: ResultOf<'sessions'>;
  };
  /** Ends one of them; 0 where it has ended already, or is somebody else's. */
  readonly end_session: {
    readonly request: { readonly id: string };
    readonly answer: { readonly ended: number };
  };
  /** Ends every other session of the one who asks. */
  readonly sign_out_others: {
    readonly request: Record<string, never>;
    readonly answer: { readonly ended: number };
  };
  readonly first_steps: {
    readonly request: { readonly skipped: boolean };
    readonly answer: SessionView;
  };
}

/** What a hint says may have changed; the page asks again for what it shows of it. */
export type Topic =
  | 'messages'
  | 'queue'
  | 'inbox'
  | 'relays'
  | 'routes'
  | 'domains'
  | 'keys'
  | 'settings'
  | 'users'
  | 'activity'
  | 'health'
  | 'denials';

/** `GET /api/events`: the data of an event `hint`. */
export interface Hint {
  readonly topics: readonly Topic[];
  /** Messages it is about, when they are few. */
  readonly ids?: readonly string[];
}
