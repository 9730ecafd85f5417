/** The operations on domains over a real store and a real configuration, with a DNS server that tests write. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Loaded, loadConfig } from '../../src/config/load.ts';
import type { DomainDeps } from '../../src/control/domain-checks/check.ts';
import { domainOperations } from '../../src/control/domains.ts';
import { storedRows } from '../../src/control/in-force.ts';
import type { SendingDomain } from '../../src/domain/domain-keys.ts';
import { systemRandom } from '../../src/lib/random.ts';
import type { DomainDetail, DomainOperations, RecordView } from '../../src/operations/domains.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { type DnsServer, startDnsServer } from '../peers/dns-server.ts';
import { inShape } from './in-shape.ts';
import { ManualClock } from './manual-clock.ts';

/** See {@link domainDesk}. */
export interface DomainDesk {
  readonly operations: DomainOperations;
  readonly deps: DomainDeps;
  readonly clock: ManualClock;
  readonly dns: DnsServer;
  /** A domain as the configuration in force has it. */
  domain(name: string): SendingDomain | undefined;
}

/** Opens one until the test ends. Time stands still. */
export async function domainDesk(): Promise<DomainDesk> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-domains-'));
  const stores = openSqlite(join(folder, 'waybill.db'));
  onTestFinished(async () => {
    await stores.store.close();
    rmSync(folder, { recursive: true });
  });
  const dns = await startDnsServer();
  writeFileSync(join(folder, 'waybill.yaml'), `dns: { servers: ["127.0.0.1:${dns.endpoint.port}"] }`);
  const { registry } = stores;
  const load = async (): Promise<Loaded> =>
    loadConfig({
      dataDir: folder,
      environment: {},
      stored: await storedRows(registry),
      random: systemRandom,
    });
  let loaded = await load();
  const clock = new ManualClock();
  const deps: DomainDeps = {
    registry,
    clock,
    random: systemRandom,
    resolution: () => ({ ...loaded, routesVersion: 2 }),
    reload: async () => {
      loaded = await load();
      return [];
    },
  };
  const domain = (name: string) => loaded.config.domains.find((known) => known.name === name);
  return { operations: inShape(domainOperations(deps)), deps, clock, dns, domain };
}

/** Publishes records in a DNS server, as an operator would. */
export function publishRecords(dns: DnsServer, records: readonly RecordView[]): void {
  for (const { name, type, zoneLine } of records) {
    if (type !== 'TXT') continue;
    const strings = [...zoneLine.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text);
    dns.set(name, 'TXT', [strings.join('')]);
  }
}

/** The records of a domain's keys that are in a state. */
export function keyRecords(
  detail: DomainDetail,
  state: 'waiting' | 'signing' | 'retired',
): readonly RecordView[] {
  const selectors = detail.keys.filter((key) => key.state === state).map(({ selector }) => selector);
  return detail.records.filter(
    ({ purpose, name }) =>
      purpose === 'dkim' && selectors.some((selector) => name.startsWith(`${selector}.`)),
  );
}
