import { expect, test } from 'vitest';
import { isPublicAddress } from './public-address.ts';

test.each(['1.1.1.1', '9.255.255.255', '11.0.0.0', '172.15.0.1', '172.32.0.1', '223.255.255.255'])(
  '%s is of the Internet',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
    expect(isPublicAddress(`::ffff:${address}`)).toBe(true);
    expect(isPublicAddress(`64:ff9b::${address}`)).toBe(true);
  },
);

test.each(['2606:4700::1', '2a00:1450::1', '2001:4860:4860::8888'])('%s is of the Internet', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '203.0.113.7',
  '224.0.0.1',
  '255.255.255.255',
])('%s is not, in no clothes', (address) => {
  expect(isPublicAddress(address)).toBe(false);
  expect(isPublicAddress(`::ffff:${address}`)).toBe(false);
  expect(isPublicAddress(`::${address}`)).toBe(false);
  expect(isPublicAddress(`64:ff9b::${address}`)).toBe(false);
});

test.each([
  '::',
  '::1',
  'fe80::1',
  'fe80::1%eth0',
  '2606:4700::1%eth0',
  'fc00::1',
  'fd12::1',
  'fec0::1',
  'ff02::1',
  '2001:db8::1',
  '2001::1',
  '2002:a00:1::1',
  '64:ff9b:1::1',
  '::ffff:7f00:1',
  'localhost',
  '',
  '1.2.3',
])('%j is not', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});
