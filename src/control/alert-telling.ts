/** Tells channels of alerts: what the watch and the test button have in common. */
import type { MailRelay } from '../alerts/mail.ts';
import { createTell, type Tell } from '../alerts/telling.ts';
import { localPostmaster } from '../config/names.ts';
import type { Vault } from '../config/secrets.ts';
import { ANY_URL } from '../config/settings-webhooks.ts';
import type { Intake } from '../engine/contract.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';
import type { RelayStatus } from '../observe/health-report.ts';
import type { InForce } from './in-force.ts';

/** What it needs. */
export interface ChannelTellDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  readonly intake: Pick<Intake, 'accept' | 'newId'>;
  readonly resolution: () => Pick<InForce, 'config' | 'vault'>;
  /** How relays fare; empty: nothing is known of them. */
  readonly relays: () => readonly Pick<RelayStatus, 'name' | 'state' | 'disabled'>[];
}

/** Makes what tells channels. */
export function channelTell({ resolution, relays, ...deps }: ChannelTellDeps): Tell {
  return createTell({
    ...deps,
    open: ({ channel: { id }, secret }) =>
      secret === null ? null : (resolution().vault?.open(secret, secretOwner(id)) ?? null),
    mayBePrivate: (url) => mayChannelBePrivate(url, resolution().config),
    dnsServers: () => resolution().config.dns.servers,
    relays: () => {
      const states = new Map(relays().map((one) => [one.name, one]));
      return resolution().config.relays.map(({ name, disabled }): MailRelay => {
        const state = states.get(name);
        const isDisabled = disabled || state?.disabled === true;
        return { name, isDisabled, isWell: !isDisabled && (state?.state ?? 'closed') === 'closed' };
      });
    },
    postmaster: () => localPostmaster(resolution().config),
  });
}

/** Whether a URL of a channel may lead to private addresses, and be plain HTTP: as those of webhooks. */
export function mayChannelBePrivate(url: string, { webhooks }: Pick<InForce['config'], 'webhooks'>): boolean {
  return webhooks.privateUrls.includes(url) || webhooks.privateUrls.includes(ANY_URL);
}

/** Seals the secret of a channel. */
export function sealChannelSecret(secret: string, id: string, vault: Vault): string {
  return vault.seal(secret, secretOwner(id));
}

function secretOwner(id: string): string {
  return `alert channel ${id}`;
}
