import type { HookRequest, HookSettings, Proof } from './proof.ts';
import type { Reading } from './reading.ts';

/** A provider's webhooks: whether one is its own, and what is in it. A file of its own: the contract of five others. */
export interface Hook {
  /** Checks the proof at `now` (wall ms). Never throws or rejects. */
  prove(request: HookRequest, settings: HookSettings, now: number): Proof | Promise<Proof>;
  /** The events in a proven request to the hook of a relay. Never throws. */
  read(request: HookRequest, relay: string): Reading;
}
