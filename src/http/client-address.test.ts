import { expect, test } from 'vitest';
import { parseCidrs } from '../lib/network.ts';
import { clientAddress } from './client-address.ts';

function clientOf(peer: string, forwarded?: string): string {
  const trusted = parseCidrs(['10.0.0.0/8', 'fd00::/8']);
  if (!trusted.ok) throw new Error(trusted.reason);
  return clientAddress({ peer, headers: { 'x-forwarded-for': forwarded } }, trusted.cidrs);
}

test.each([
  ['the peer, when nothing is forwarded', '10.0.0.1', undefined, '10.0.0.1'],
  ['the peer, when it is no trusted proxy', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
  ['what a trusted proxy says', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
  [
    'the rightmost untrusted hop, not what the client made up',
    '10.0.0.1',
    '127.0.0.1, 198.51.100.7, 10.0.0.2',
    '198.51.100.7',
  ],
  ['the leftmost hop, when all are trusted', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
  ['without a port', '10.0.0.1', '198.51.100.7:4711', '198.51.100.7'],
  ['without brackets and port', 'fd00::1', '[2001:db8::7]:4711', '2001:db8::7'],
  ['normalised from the mapped form', '10.0.0.1', '::ffff:198.51.100.7', '198.51.100.7'],
  ['unknown, when the proxy names no address', '10.0.0.1', '127.0.0.1, _hidden', 'unknown'],
  ['unknown, when the header is empty', '10.0.0.1', '', 'unknown'],
])('the client is %s', (_, peer, forwarded, expected) => expect(clientOf(peer, forwarded)).toBe(expected));
