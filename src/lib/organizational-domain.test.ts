import { expect, test } from 'vitest';
import { areAligned, organizationalDomain } from './organizational-domain.ts';

test.each([
  ['example.com', 'example.com'],
  ['a.b.example.com', 'example.com'],
  ['mail.example.co.uk', 'example.co.uk'],
  ['co.uk', 'co.uk'],
  ['com', 'com'],
  ['a.someone.github.io', 'someone.github.io'],
  ['a.xn--85x722f.xn--55qx5d.cn', 'xn--85x722f.xn--55qx5d.cn'],
  ['a.b.example', 'b.example'],
  ['bounce_1.example.com', 'example.com'],
  ['localhost', 'localhost'],
  ['192.0.2.1', '192.0.2.1'],
])('the organizational domain of %s is %s', (name, organization) => {
  expect(organizationalDomain(name)).toBe(organization);
});

test.each([
  ['siblings', 'mail.example.com', 'news.example.com', true],
  ['siblings below a suffix of two labels', 'mail.example.co.uk', 'news.example.co.uk', true],
  ['one below the other', 'bounces.example.com', 'example.com', true],
  ['two houses below one suffix', 'one.co.uk', 'other.co.uk', false],
  ['two customers of one provider', 'one.github.io', 'other.github.io', false],
  ['a domain and the suffix above it', 'example.com', 'com', false],
  ['names that only end alike', 'example.com', 'notexample.com', false],
])('%s', (_, one, other, aligned) => {
  expect(areAligned(one, other)).toBe(aligned);
});
