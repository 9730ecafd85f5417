import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shownFaults, shownMatch, shownPath } from './shown-path.ts';

/** How requests are shown in the log of requests: nothing that may be an address or a secret. */

describe('a path of ours', () => {
  test.each([
    ['/api/v1/messages', {}, '/api/v1/messages'],
    [
      '/api/v1/messages/{id}',
      { id: 'msg_01hx3v5k2m9q8r7s6t5v4w3x2y' },
      '/api/v1/messages/msg_01hx3v5k2m9q8r7s6t5v4w3x2y',
    ],
    ['/api/v1/messages/{id}', { id: '<a@shop.example>' }, '/api/v1/messages/{id}'],
    [
      '/emails/{id}',
      { id: '018f3a7c-0b1d-4e2f-8a9b-0c1d2e3f4a5b' },
      '/emails/018f3a7c-0b1d-4e2f-8a9b-0c1d2e3f4a5b',
    ],
    ['/bounces/{id}', { id: '4711' }, '/bounces/4711'],
    [
      '/v3/asm/suppressions/global/{email}',
      { email: 'ann@example.org' },
      '/v3/asm/suppressions/global/{email}',
    ],
    ['/api/v1/admin/{operation}', { operation: 'listKeys' }, '/api/v1/admin/listKeys'],
    ['/api/v1/admin/{operation}', { operation: 'ann@example.org' }, '/api/v1/admin/{operation}'],
    ['/api/v1/suppressions/{address}', { address: 'postmaster' }, '/api/v1/suppressions/{address}'],
  ])('%s with %j is shown as %s', (pattern, params, shown) => {
    expect(shownMatch(pattern, params)).toBe(shown);
  });
});

describe('a path that is not ours', () => {
  test.each([
    ['/', '/'],
    ['/api/v1/message', '/api/v1/message'],
    ['/emails/', '/emails/'],
    ['/api/v1/mails/ann@example.org', '/api/v1/mails/…'],
    ['/api/v1/mails/ann%40example.org', '/api/v1/mails/…'],
    ['/u/7h9k2m4n6p8q0r1s3t5v', '/u/…'],
    ['/a/b/c/d/e/f/g/h/i/j', '/a/b/c/d/e/f/g/h/…'],
    [`/${'a'.repeat(31)}`, `/${'a'.repeat(31)}`],
    [`/${'a'.repeat(32)}`, '/…'],
  ])('%s is shown as %s', (path, shown) => {
    expect(shownPath(path)).toBe(shown);
  });

  test('is never long, whatever it is', () => {
    const segment = fc.oneof(fc.string(), fc.constant('a'.repeat(31)));
    const property = fc.property(fc.array(segment, { maxLength: 200 }), (segments) => {
      const shown = shownPath(`/${segments.join('/')}`);
      expect(shown.length).toBeLessThanOrEqual(120);
      expect(shown).toMatch(/^[\w/…-]*$/);
    });
    fc.assert(property, { numRuns: 500 });
    expect(shownPath(`/${many('a'.repeat(31), 9).join('/')}`)).toHaveLength(120);
  });
});

describe('faults', () => {
  const fault = (pointer: string, code = 'invalid') => ({
    pointer,
    code,
    detail: 'ann@example.org is wrong',
  });

  test('are shown by field and code, the first three', () => {
    expect(shownFaults([])).toBeNull();
    expect(shownFaults([fault('/to/0', 'address_invalid')])).toBe('/to/0 address_invalid');
    expect(shownFaults(['/a', '/b', '/c', '/d'].map((one) => fault(one)))).toBe(
      '/a invalid, /b invalid, /c invalid, …',
    );
  });

  test.each([
    ['/metadata/ann@example.org', '/metadata/… invalid'],
    [`/headers/${'x'.repeat(99)}`, '/headers/… invalid'],
    ['/a/1/b/2/c/3', '/a/1/b/2 invalid'],
    ['', '/ invalid'],
  ])('a pointer %s is shown as %s', (pointer, shown) => {
    expect(shownFaults([fault(pointer)])).toBe(shown);
  });
});

function many<T>(one: T, count: number): T[] {
  return Array.from({ length: count }, () => one);
}
