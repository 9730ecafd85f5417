import type { HookType } from './relay.ts';

/** The webhook of a relay, by which its provider tells what became of mail (contract-2 §A4). */

/** What proves a request to a relay's hook. */
export interface RelayHook {
  readonly type: HookType;
  readonly settings: HookSettings;
  /** The token in its path: 32 hex digits. */
  readonly current: string;
  /** Those replaced lately, which still count; the newest first. */
  readonly former: readonly FormerToken[];
}

/** The settings of a relay's hook. A hook without those that its provider needs, or with empty ones, is 404. */
export interface HookSettings {
  /** `ses`: the only topic that counts; null for any. */
  readonly topicArn: string | null;
  /** `sendgrid`: the verification key, SubjectPublicKeyInfo in base64. */
  readonly publicKey: string | null;
  /** `postmark`: the user name of Basic authentication. */
  readonly username: string | null;
  /** `mailgun`: the signing key; `postmark`: the password; `resend`: the secret, `whsec_…`. */
  readonly secret: string | null;
}

interface FormerToken {
  readonly token: string;
  /** Wall ms until which it counts. */
  readonly until: number;
}
