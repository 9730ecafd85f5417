import { expect } from 'vitest';
import { dayOf, type QuotaRefund } from '../../../src/domain/quota.ts';
import type { BeginAnswer, BeginRequest, UnitRef } from '../../../src/store/leased.ts';
import type { Views } from '../../../src/store/views.ts';
import { T0 } from './fixtures.ts';

const DAYS = [dayOf(T0), dayOf(T0) + 1];

/** What a caller of the store would remember of quotas: what began took of them, but for what was given back. */
export class QuotaModel {
  /** By day and relay. */
  readonly #used = new Map<string, number>();
  /** Deliveries whose attempts have begun, by message and place. */
  readonly #begun = new Set<string>();

  /** What a unit asks for; of every fourth choice no quota. */
  wishOf(unit: UnitRef, choice: number): BeginRequest {
    if (choice % 4 === 0) return { ...unit, recipients: [], quota: null };
    const recipients = 1 + (choice % 2);
    return {
      ...unit,
      recipients: [],
      quota: { relay: unit.lane, day: dayFor(choice), recipients, limit: choice % 7 },
    };
  }

  /** Compares what `begin` said with what is left of the quota, and enters it. */
  answered({ quota, ...unit }: BeginRequest, answer: BeginAnswer): void {
    if (answer === 'refused') return;
    const names = namesOf(unit);
    const isNew = names.some((name) => !this.#begun.has(name));
    const wanted = quota === null ? 0 : this.#of(quota) + quota.recipients;
    const isOver = quota !== null && isNew && wanted > quota.limit;
    expect(answer).toBe(isOver ? 'over_quota' : 'begun');
    if (isOver) return;
    for (const name of names) this.#begun.add(name);
    if (quota !== null && isNew) this.#used.set(keyOf(quota), wanted);
  }

  /** What a unit is to give back: now and then more than it took, or nothing. */
  refundOf(unit: UnitRef, choice: number): QuotaRefund | null {
    if (choice % 3 === 0) return null;
    return { relay: unit.lane, day: dayFor(choice), recipients: 1 + (choice % 3) };
  }

  /** Enters what a unit gave back, that was still its asker's. */
  gaveBack(unit: UnitRef, refund: QuotaRefund | null): void {
    if (refund === null || !namesOf(unit).some((name) => this.#begun.has(name))) return;
    this.#used.set(keyOf(refund), Math.max(0, this.#of(refund) - refund.recipients));
  }

  /** Enters that a delivery is not in processing any more. */
  ended(id: string, index: number): void {
    this.#begun.delete(`${id}/${index}`);
  }

  /** Compares with what the store says is used. */
  async check(views: Views): Promise<void> {
    for (const day of DAYS) {
      const used = await views.quotaUsed(day);
      for (const relay of used.keys()) expect(used.get(relay)).toBe(this.#of({ relay, day }));
      const known = [...this.#used].filter(([name, count]) => name.startsWith(`${day} `) && count > 0);
      expect(used.size).toBe(known.length);
    }
  }

  #of(name: Pick<QuotaRefund, 'relay' | 'day'>): number {
    return this.#used.get(keyOf(name)) ?? 0;
  }
}

function dayFor(choice: number): number {
  return DAYS[choice % DAYS.length] ?? 0;
}

function keyOf({ relay, day }: Pick<QuotaRefund, 'relay' | 'day'>): string {
  return `${day} ${relay}`;
}

function namesOf({ messageId, indexes }: UnitRef): string[] {
  return indexes.map((index) => `${messageId}/${index}`);
}
