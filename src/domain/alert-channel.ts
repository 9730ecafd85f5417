import type { AlertListener } from './alert.ts';

/** Where alerts are told. */

/** The kinds of channels, in the order in which they are offered. */
export const CHANNEL_KINDS = ['mail', 'webhook', 'slack', 'discord', 'teams', 'ntfy', 'pagerduty'] as const;

/** See {@link CHANNEL_KINDS}. */
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

/** What its URL or key, which is secret, is called by its provider; null: it has none. */
export const CHANNEL_SECRETS: Readonly<Record<ChannelKind, string | null>> = {
  mail: null,
  webhook: 'signing secret',
  slack: 'webhook URL',
  discord: 'webhook URL',
  teams: 'workflow URL',
  ntfy: 'access token',
  pagerduty: 'integration key',
};

/** A channel. */
export interface AlertChannel extends AlertListener {
  /** For people; unique. */
  readonly name: string;
  readonly kind: ChannelKind;
  /** Of `webhook` the URL, of `ntfy` that of the topic; of others null. */
  readonly url: string | null;
  /** The recipients of `mail`; of others empty. */
  readonly to: readonly string[];
  /** The sender of `mail`; null: the postmaster of this server. */
  readonly from: string | null;
  /** The relay that `mail` goes by, unless it is the ill one; null: the first one that is well. */
  readonly relay: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Most channels. */
export const MAX_CHANNELS = 20;
/** Most silences at a time. */
export const MAX_SILENCES = 100;
