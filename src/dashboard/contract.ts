import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { z } from 'zod';
import { MAX_PASSWORD, type Role } from '../domain/account.ts';
import { userName } from '../operations/accounts.ts';
import type { Topic } from '../operations/operation.ts';
import { MAX_QUERY } from '../operations/search.ts';
import type { ResultOf } from '../operations/table.ts';
import type { SharedStory } from './shared-stories.ts';

/**
 * What the dashboard's page and server exchange besides operations, which are called by `POST /api/call/<operation>`.
 * Only this file and `src/operations` are visible to `web/`, as types.
 */

/** `GET /api/session`: the user, as far as known. */
export type SessionView =
  /** Nobody has claimed the dashboard yet: the set-up link is needed. */
  | { readonly state: 'setup' }
  | {
      readonly state: 'anonymous';
      /** Somebody has a passkey for this host name. */
      readonly passkeys: boolean;
      /** The identity provider that users may sign in with; null: none. */
      readonly provider: ProviderView | null;
      /** After signing out: the URL at which the user can sign out of the provider, too; null: there is none. */
      readonly signOutUrl: string | null;
    }
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

/** An identity provider, as the sign-in page shows it. */
interface ProviderView {
  readonly name: string;
  /** The address of the dashboard at which it can be used; null: this one. */
  readonly elsewhere: string | null;
}

/** The signed-in user. */
export interface SessionUser {
  readonly name: string;
  readonly role: Role;
  readonly secondFactor: boolean;
  readonly recoveryCodesLeft: number;
  readonly passkeys: number;
  /** The name of the identity provider that they sign in with; null: they sign in here, by password or passkey. */
  readonly provider: string | null;
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

/** A path of ours, never an address elsewhere: browsers take `//` and `/\` for one. */
const ownPath = z
  .string()
  .max(500)
  .regex(/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/, 'must be a path of the dashboard');

/** Bytes as WebAuthn's JSON has them; the largest are public keys and attestations. */
const base64url = z
  .string()
  .max(8192)
  .regex(/^[A-Za-z0-9_-]*$/);
/** At most 1023 bytes. */
const credentialId = base64url.min(1).max(1364);
/** What was begun, sealed by the server. */
const begun = z.string().max(1024);
/** Of both answers of an authenticator. Browsers may add members, which are not read. */
const credential = {
  id: credentialId,
  rawId: credentialId,
  type: z.literal('public-key'),
};

/** Pages whose address says what they show. */
const VIEW_PAGES = [
  '/messages',
  '/suppressions',
  '/requests',
  '/activity',
  '/queue',
  '/inbox',
  '/reputation',
] as const;
const viewPage = z.enum(VIEW_PAGES);
const viewId = z.string().max(64);
const viewName = z
  .string()
  .trim()
  .min(1)
  .max(60)
  .regex(/^\P{Cc}*$/u, 'must be on one line');
/** More fields than any page has, and the longest query. */
const viewSearch = z
  .record(z.string().regex(/^[a-z]{1,20}$/), z.string().max(MAX_QUERY))
  .refine((search) => Object.keys(search).length <= 10, 'must have at most 10 fields');

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
  /** Begins a sign-in with a passkey. */
  passkey_begin: nothing,
  /** Signs in with a passkey. */
  passkey: z.strictObject({
    begun,
    response: z.object({
      ...credential,
      response: z.object({
        clientDataJSON: base64url,
        authenticatorData: base64url,
        signature: base64url,
        userHandle: base64url,
      }),
    }),
  }),
  /** Begins a sign-in with the identity provider. `returnTo`: the page's path, for afterwards. */
  provider_begin: z.strictObject({ returnTo: ownPath }),
  /** Signs in with what the provider answered: the query of the address to which it returned. */
  provider: z.strictObject({ search: z.string().max(8192) }),
  /** The user's passkeys, oldest first. */
  passkeys: nothing,
  /** Begins to add a passkey. */
  passkey_add_begin: z.strictObject({ password }),
  passkey_add: z.strictObject({
    begun,
    label: z.string().trim().min(1).max(60),
    response: z.object({
      ...credential,
      response: z.object({ clientDataJSON: base64url, attestationObject: base64url }),
    }),
  }),
  passkey_remove: z.strictObject({ id: credentialId, password }),
  /** The user's own sessions, for every role; the most recently used first. */
  sessions: nothing,
  /** Ends one of them; 0 if it has ended already, or is another user's. */
  end_session: z.strictObject({ id: z.string().max(64) }),
  /** Ends all other sessions of the user. */
  sign_out_others: nothing,
  first_steps: z.strictObject({ skipped: z.boolean() }),
  /** The user's own saved views, and those that others share; by name. */
  saved_views: nothing,
  /** Saves what a page shows. */
  save_view: z.strictObject({ page: viewPage, name: viewName, search: viewSearch }),
  /** Gives one of the user's own views another name, or has it show something else; what is null stays. */
  change_view: z.strictObject({ id: viewId, name: viewName.nullable(), search: viewSearch.nullable() }),
  remove_view: z.strictObject({ id: viewId }),
  /** What a link shows of a message, to whoever has it. */
  story: z.strictObject({ token }),
};

/** A page whose views can be saved. */
export type ViewPage = (typeof VIEW_PAGES)[number];

/** A saved view, as its user and others see it. */
export interface SavedViewRow {
  readonly id: string;
  readonly page: string;
  readonly name: string;
  /** What the page's address says after `?`, by name. */
  readonly search: Readonly<Record<string, string>>;
  /** Everybody has it. */
  readonly shared: boolean;
  /** Whose it is. */
  readonly user: string;
  /** It is the caller's. */
  readonly own: boolean;
}

/** The answers other than a {@link SessionView}. */
interface OtherAnswers {
  readonly link: { readonly name: string | null; readonly expiresAt: string };
  /** The secret in base32, and the same as an `otpauth:` URL and as rows of a QR code, `1` for black. */
  readonly totp_begin: { readonly secret: string; readonly url: string; readonly qr: readonly string[] };
  /** Shown once. */
  readonly totp_confirm: { readonly recoveryCodes: readonly string[] };
  readonly passkey_begin: Begun<PublicKeyCredentialRequestOptionsJSON>;
  readonly provider_begin: { readonly url: string };
  /** Where to go on, as it was given when the sign-in was begun. */
  readonly provider: { readonly view: SessionView; readonly returnTo: string };
  readonly passkeys: readonly PasskeyRow[];
  readonly passkey_add_begin: Begun<PublicKeyCredentialCreationOptionsJSON>;
  readonly sessions: ResultOf<'sessions'>;
  readonly end_session: { readonly ended: number };
  readonly sign_out_others: { readonly ended: number };
  readonly saved_views: readonly SavedViewRow[];
  readonly save_view: SavedViewRow;
  readonly change_view: SavedViewRow;
  readonly remove_view: SavedViewRow;
  readonly story: SharedStory;
}

/** A request for the browser's authenticators (WebAuthn, as JSON); `begun` is to be returned with the answer. */
interface Begun<Options> {
  readonly options: Options;
  readonly begun: string;
}

/** A passkey as its owner sees it. Times are RFC 3339. */
export interface PasskeyRow {
  readonly id: string;
  readonly label: string;
  /** The host name that it signs in to. */
  readonly host: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
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
