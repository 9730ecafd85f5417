import type { Alert, AlertSilence } from '../domain/alert.ts';
import type { AlertChannel } from '../domain/alert-channel.ts';
import type { AlertRuleChange } from '../domain/alert-rules.ts';

/**
 * Alerts: what operators decided about them, and their history. Every verb is one transaction; times are wall ms. Errors
 * are `StoreError`.
 */
export interface Alerts {
  /** What operators decided: rules by name, channels and silences by id. */
  alertSettings(): Promise<AlertSettings>;
  /** Changes a rule; an empty change: it is as declared again. */
  setAlertRule(name: string, change: AlertRuleChange): Promise<void>;
  /** Adds a channel, unless there are `max`, or one with its name. */
  addAlertChannel(stored: StoredChannel, max: number): Promise<'added' | 'too_many' | 'name_taken'>;
  /** Changes a channel as a whole; `secret` null: it stays. */
  changeAlertChannel(
    channel: AlertChannel,
    secret: string | null,
  ): Promise<'changed' | 'name_taken' | 'no_channel'>;
  /** Removes a channel. False: there is none. */
  removeAlertChannel(id: string): Promise<boolean>;
  /** Adds a silence, unless `max` others last beyond `now`; those that have ended are forgotten. False: there are. */
  addAlertSilence(silence: AlertSilence, max: number, now: number): Promise<boolean>;
  /** Ends a silence. False: there is none. */
  removeAlertSilence(id: string): Promise<boolean>;
  /** Alerts that are not over, those that ended after a time, and those with notices that are pending; the oldest first. */
  openAlerts(endedAfter: number): Promise<Alert[]>;
  /** Writes alerts as they are, and removes others. */
  writeAlerts(alerts: readonly Alert[], removed: readonly string[]): Promise<void>;
  /** A page of alerts, the newest first. */
  alertHistory(query: AlertQuery): Promise<AlertPage>;
  /** Removes alerts that ended before a time, and the oldest of more than `keep`; at most `limit`. Returns how many. */
  forgetAlerts(before: number, keep: number, limit: number): Promise<number>;
}

/** See {@link Alerts.alertSettings}. */
export interface AlertSettings {
  readonly rules: ReadonlyMap<string, AlertRuleChange>;
  readonly channels: readonly StoredChannel[];
  readonly silences: readonly AlertSilence[];
}

/** A channel with its secret. */
export interface StoredChannel {
  readonly channel: AlertChannel;
  /** Sealed; null: it has none. */
  readonly secret: string | null;
}

/** Which alerts a page shows. */
export interface AlertQuery {
  /** `open`: those that are not over; `fired`: those that fired, over or not. */
  readonly which: 'open' | 'fired';
  /** Only ids below this; null: from the newest. */
  readonly before: string | null;
  readonly limit: number;
}

/** A page, and the `before` of the next one. */
export interface AlertPage {
  readonly alerts: readonly Alert[];
  /** Null: there is nothing further. */
  readonly next: string | null;
}
