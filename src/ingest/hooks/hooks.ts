import type { HookType } from '../../domain/relay.ts';
import type { HookSettings } from '../../domain/relay-hook.ts';
import type { HttpsAnswer } from '../../lib/https-get.ts';
import { mailgunHook } from './mailgun.ts';
import { postmarkHook } from './postmark.ts';
import type { HookRequest, Proof } from './proof.ts';
import type { Hook, Reading } from './reading.ts';
import { resendHook } from './resend.ts';
import { sendgridHook } from './sendgrid.ts';
import { sesHook, subscriptionOf } from './ses.ts';
import { confirmSubscription, SnsCertificates, type SnsFetchParts } from './sns-fetch.ts';

/**
 * The webhooks of all providers (contract-2 §A4): proves and reads what came to `POST /hooks/{relay}/{token}` once the
 * token is known to be the relay's. It remembers certificates, so there is one for all requests.
 */
export class Hooks {
  readonly #sns: SnsFetchParts;
  readonly #hooks: Readonly<Record<HookType, Hook>>;

  constructor(sns: SnsFetchParts) {
    this.#sns = sns;
    this.#hooks = {
      ses: sesHook(new SnsCertificates(sns)),
      sendgrid: sendgridHook,
      mailgun: mailgunHook,
      postmark: postmarkHook,
      resend: resendHook,
    };
  }

  /** Whether the relay's provider sent this, at `now` (wall ms). Never rejects. */
  async prove(type: HookType, request: HookRequest, settings: HookSettings, now: number): Promise<Proof> {
    return this.#hooks[type].prove(request, settings, now);
  }

  /** The events in a proven request. Never throws. */
  read(type: HookType, request: HookRequest, relay: string): Reading {
    return this.#hooks[type].read(request, relay);
  }

  /**
   * Confirms the subscription for which a proven request asks, by one GET; null for every other request. For after the
   * answer: SNS waits for that first. Never rejects.
   */
  async confirm(type: HookType, request: HookRequest): Promise<HttpsAnswer | null> {
    const url = type === 'ses' ? subscriptionOf(request) : null;
    return url === null ? null : confirmSubscription(url, this.#sns);
  }
}
