/** Checks of domains, held to what they find. */
import { expect, test } from 'vitest';
import type { DomainCheck, Inquiry } from '../../src/control/domain-checks/inquiry.ts';
import type { DomainKey } from '../../src/domain/domain-keys.ts';
import { premises, scriptedResolver } from './premises.ts';

/** When it is. */
export const T = Date.UTC(2026, 10, 22);
const forever = new AbortController().signal;
/** A key that signs. */
export const KEY: DomainKey = {
  selector: 's1',
  algorithm: 'rsa-sha256',
  publicKey: 'cHVibGlj',
  privateKey: 'cHJpdg==',
  createdAt: T,
  activeSince: T,
  retiredAt: null,
};

/** What a check is given. */
export interface Case {
  readonly zone?: Parameters<typeof scriptedResolver>[0];
  readonly file?: string;
  readonly keys?: readonly DomainKey[];
  readonly ownAddresses?: readonly string[];
  /** The text of the MTA-STS policy; absent: it cannot be had. */
  readonly policy?: string;
}

/** What is found, as `status name: sentence | cure`; lines of a cure are parted by blanks. */
export async function found(
  check: DomainCheck,
  { zone = {}, file = '', keys = [KEY], policy, ownAddresses }: Case,
) {
  const inquiry: Inquiry = {
    domain: { name: 'example.com', since: T, keys, returnPath: null },
    config: premises(file === '' ? {} : { file }).loaded.config,
    resolver: scriptedResolver(zone),
    fetchPolicy: async () =>
      policy === undefined ? { kind: 'failed', text: 'no answer' } : { kind: 'fetched', body: policy },
    ownAddresses: ownAddresses ?? [],
    now: T,
  };
  const findings = await check(inquiry, forever);
  return findings.map(
    ({ status, name, found: text, cure }) =>
      `${status} ${name}: ${text} | ${(cure ?? '').replaceAll('\n', ' ')}`,
  );
}

/** What is given, and what each finding says. */
type Row = [what: string, given: Case, expected: readonly string[]];

/** Each finding has these words. */
export function table(check: DomainCheck, rows: readonly Row[]): void {
  test.each(rows)('%s', async (_, given, expected) => {
    const findings = await found(check, given);
    expect(findings).toEqual(expected.map((words) => expect.stringMatching(words)));
  });
}

/** TXT records of a name. */
export const txt = (name: string, ...records: readonly string[]) => ({ [`TXT ${name}`]: records });
