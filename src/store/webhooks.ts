import type { WebhookDelivery, WebhookEndpoint, WebhookHealth, WebhookTry } from '../domain/webhook.ts';

/**
 * Endpoints of webhooks, and what each is still to be told (contract-2 §B2, §B3). Every verb is one transaction; times
 * are wall ms. Errors are `StoreError`. The log of events itself is in the views: pending deliveries are rows beside it.
 */
export interface Webhooks {
  /** All endpoints, by id. */
  webhookEndpoints(): Promise<StoredEndpoint[]>;
  /**
   * Adds an endpoint, if there are fewer than `limits.all`, and fewer than `limits.ofKey` of the key that it belongs to, if
   * to any. The first one is told of what happens from now on.
   */
  addWebhookEndpoint(
    endpoint: Omit<StoredEndpoint, 'keyEndsAt'>,
    limits: EndpointLimits,
  ): Promise<'added' | 'too_many'>;
  /**
   * Changes an endpoint as a whole, but for its key and its health; `secrets` null: they stay. False: there is none.
   */
  changeWebhookEndpoint(endpoint: WebhookEndpoint, secrets: string | null): Promise<boolean>;
  /**
   * Sets how an endpoint fares; one that is disabled only becomes healthy again. One that becomes disabled has its pending deliveries taken away, and the log gets
   * `webhook.disabled`, at `now`. False: there is none.
   */
  setWebhookHealth(id: string, health: WebhookHealth, now: number): Promise<boolean>;
  /** Removes an endpoint and its deliveries. False: there is none. */
  removeWebhookEndpoint(id: string): Promise<boolean>;
  /** The sequence of the last event that endpoints were told of, or are about to be. */
  webhookCursor(): Promise<number>;
  /**
   * Adds deliveries that are due at `now`, and moves the cursor to `to`, if it is still at `from`. False: it is not, and
   * nothing was added.
   */
  fanOut(from: number, to: number, deliveries: readonly NewDelivery[], now: number): Promise<boolean>;
  /** Pending deliveries of an endpoint that are due at `now`, at most `limit`, the one due longest first. */
  dueDeliveries(endpoint: string, now: number, limit: number): Promise<WebhookDelivery[]>;
  /** The pending delivery of an endpoint whose event is the oldest; null: none is pending. */
  oldestDelivery(endpoint: string): Promise<WebhookDelivery | null>;
  /** Deliveries that are pending, by endpoint. */
  pendingDeliveries(): Promise<ReadonlyMap<string, number>>;
  /**
   * Writes what came of a try; `nextTryAt` null ends the delivery, as delivered or failed. False: it is not pending. Where
   * another try has ended since this one began, or a replay has begun it anew, a failure changes only its tries.
   */
  settleDelivery(settled: SettledDelivery): Promise<boolean>;
  /** A page of an endpoint's deliveries, the newest event first. */
  deliveries(query: DeliveryQuery): Promise<DeliveryPage>;
  /**
   * Lets events be told again, at once and from the start of the schedule: those of these sequences, whether or not
   * there is a row for them. Returns how many.
   */
  replayDeliveries(endpoint: string, deliveries: readonly NewDelivery[], now: number): Promise<number>;
  /** Removes deliveries of events before a sequence, at most `limit`. Returns how many. */
  forgetDeliveries(before: number, limit: number): Promise<number>;
}

/** An endpoint with its sealed secrets, and how it fares. */
export interface StoredEndpoint {
  readonly endpoint: WebhookEndpoint;
  /** Sealed. */
  readonly secrets: string;
  readonly health: WebhookHealth;
  /** Wall ms from which on the key that it belongs to is revoked or expired; null: never, or it belongs to none. */
  readonly keyEndsAt: number | null;
}

/** Most endpoints. */
export interface EndpointLimits {
  readonly ofKey: number;
  readonly all: number;
}

/** An event that an endpoint is to be told. */
export interface NewDelivery {
  readonly endpoint: string;
  readonly sequence: number;
  readonly type: WebhookDelivery['type'];
}

/** What came of a try. */
export interface SettledDelivery {
  readonly endpoint: string;
  readonly sequence: number;
  /** How many tries there had been when this one began. */
  readonly attempts: number;
  readonly one: WebhookTry;
  readonly state: WebhookDelivery['state'];
  readonly nextTryAt: number | null;
}

/** Which deliveries a page shows. */
export interface DeliveryQuery {
  readonly endpoint: string;
  readonly state: WebhookDelivery['state'] | null;
  /** Only events below this sequence; null: from the newest. */
  readonly before: number | null;
  /** Only events from this sequence on. */
  readonly from: number;
  readonly limit: number;
}

/** A page, and the `before` of the next one. */
export interface DeliveryPage {
  readonly deliveries: readonly WebhookDelivery[];
  /** Null: there is nothing further. */
  readonly next: number | null;
}

/** Tries of one delivery that are kept: the first, and the newest. */
export const MAX_TRIES_KEPT = 20;
