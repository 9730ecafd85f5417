import { isIPv6 } from 'node:net';
import type { OriginSettings } from '../../domain/relay.ts';

/** An IP version, as Node.js counts them. */
export type Family = 4 | 6;

/** The addresses of ours that a relay's connections come from, each in its turn. */
export class SourceAddresses {
  readonly #ips: Readonly<Record<Family, readonly string[]>>;
  readonly #families: readonly Family[];
  readonly #turns: Record<Family, number> = { 4: 0, 6: 0 };
  #plans = 0;

  constructor({ sourceIps, ipFamily }: Pick<OriginSettings, 'sourceIps' | 'ipFamily'>) {
    this.#ips = { 4: sourceIps.filter((ip) => !isIPv6(ip)), 6: sourceIps.filter(isIPv6) };
    const wanted: readonly Family[] = ipFamily === 'any' ? [6, 4] : ipFamily === 'ipv6' ? [6] : [4];
    // Where addresses are named, a family that has none is not to be used: nobody expects mail to come from there.
    this.#families = wanted.filter((family) => sourceIps.length === 0 || this.#ips[family].length > 0);
  }

  /** The families that may be connected over. */
  get family(): OriginSettings['ipFamily'] {
    if (this.#families.length > 1) return 'any';
    return this.#families[0] === 6 ? 'ipv6' : 'ipv4';
  }

  /** The one to connect from next, over a family; null leaves it to the system. */
  next(family: Family): string | null {
    const ips = this.#ips[family];
    return ips.length === 0 ? null : (ips[this.#turns[family]++ % ips.length] ?? null);
  }

  /** The families to connect to a name over, in this order; null lets the system choose. Each in front in its turn. */
  plan(): readonly (Family | null)[] {
    if (this.#families.length === 1) return this.#families;
    if (this.#families.every((family) => this.#ips[family].length === 0)) return [null];
    return this.#plans++ % 2 === 0 ? this.#families : this.#families.toReversed();
  }
}
