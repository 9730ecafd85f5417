import type { ApiKey, NamedSource } from '../../src/domain/key.ts';
import type { Origin } from '../../src/ingest/smtp/origin.ts';
import { Policy } from '../../src/ingest/smtp/policy.ts';
import type { Refusal } from '../../src/ingest/smtp/refusal.ts';
import type { Credentials } from '../../src/smtp/receiver/auth-exchange.ts';
import type { ForwardPath } from '../../src/smtp/receiver/effect.ts';
import { formatReply } from '../../src/smtp/receiver/session-reply.ts';
import { cidrs } from './cidrs.ts';
import { mailboxOf, reversePathOf } from './handing-in.ts';
import { IngestWorld } from './ingest-world.ts';
import { RecordingDesk } from './recording-desk.ts';
import { smtpTestOptions } from './smtp-options.ts';
import { NO_LINKS } from './unsubscribe-terms.ts';

/** What the policy says no with: `reason code text`, the reason `-` where nobody was denied; null for yes. */
export type Said = string | null;

/** The policy of the SMTP listener over a real keyring, without sockets. */
export class PolicyWorld extends IngestWorld {
  readonly options = smtpTestOptions({
    others: { allowedCidrs: cidrs('127.0.0.0/8', '::1/128', '10.0.0.0/8') },
  });
  readonly policy: Policy;

  constructor() {
    super({ maxBytesInFlight: 1, maxWaitingRequests: 1, maxKeysInMemory: 100 });
    const { intake, dmarcDesk, shared, events, clock, random, log } = this;
    const { views, suppressions } = this.stores;
    const deps = {
      intake,
      desk: new RecordingDesk(),
      dmarcDesk,
      views,
      suppressions,
      shared,
      events,
      clock,
      random,
      log,
      crowd: null,
      sessions: null,
      unsubscribing: () => NO_LINKS,
    };
    this.policy = new Policy(deps, this.options);
  }

  /** Puts these rows into `listener.sources`. */
  name(...rows: (Pick<NamedSource, 'name' | 'cidr'> & Partial<NamedSource>)[]): void {
    this.options.sources = rows.map((row) => ({
      source: { senderDomains: [], ratePerMinute: 0, tags: [], ...row },
      cidrs: cidrs(row.cidr),
    }));
  }

  /** MAIL from this address (`''` for `<>`), by who is at `origin`. */
  mail(origin: Origin | string, address = 'a@example.com'): Said {
    return said(this.policy.mail(this.at(origin), reversePathOf(address)));
  }

  /** So many MAILs; gives the first refusal's number and what it said. */
  mails(origin: Origin | string, most: number): { readonly taken: number; readonly said: Said } {
    for (let taken = 0; taken < most; taken++) {
      const refusal = this.mail(origin);
      if (refusal !== null) return { taken, said: refusal };
    }
    return { taken: most, said: null };
  }

  /** RCPT to this address; `''` for `<postmaster>`. */
  rcpt(origin: Origin | string, address = 'b@example.org'): Said {
    const mailbox = address === '' ? null : mailboxOf(address);
    const path: ForwardPath = { mailbox, notify: null, orcpt: null };
    return said(this.policy.rcpt(this.at(origin), path));
  }

  /** AUTH with this password. */
  async auth(
    password: string,
    address = '192.0.2.7',
    names: Partial<Omit<Credentials, 'password'>> = {},
  ): Promise<ApiKey | string> {
    const credentials = {
      mechanism: 'PLAIN',
      authorizationId: '',
      username: 'u',
      password,
      ...names,
    } as const;
    const found = await this.policy.authenticate(this.at(address), credentials);
    return 'reply' in found ? (said(found) ?? '') : found;
  }

  /** Who has proved a new key with these facts. */
  async keyed(facts: Partial<ApiKey> = {}, address = '192.0.2.7'): Promise<Origin> {
    const key = await this.auth(await this.key(facts), address);
    if (typeof key === 'string') throw new Error(key);
    return { ...this.at(address), key };
  }

  /** Whether that key is still good: yes, or what ends the session. */
  async renew(origin: Origin): Promise<Origin | string> {
    const renewed = await this.policy.renew(origin);
    return 'reply' in renewed ? (said(renewed) ?? '') : renewed;
  }

  /** Who is at an address. */
  at(origin: Origin | string): Origin {
    return typeof origin === 'string' ? this.policy.origin({ address: origin, isHidden: false }) : origin;
  }

  /** Ends what runs. */
  async close(): Promise<void> {
    this.stop();
    await this.stores.store.close();
  }
}

function said(refusal: Refusal | null): Said {
  return refusal === null ? null : `${refusal.denied ?? '-'} ${formatReply(refusal.reply).trimEnd()}`;
}
