import { describe, expect, test } from 'vitest';
import { type AdmissionRules, admit, groupsOf, namesFor, suffices } from './identity.ts';

const RULES: AdmissionRules = {
  groupsClaim: ['groups'],
  roles: [
    { group: 'mail-admins', role: 'admin' },
    { group: 'helpdesk', role: 'operator' },
    { group: 'staff', role: 'viewer' },
  ],
  defaultRole: null,
  emailDomains: [],
};

describe('groups', () => {
  test.each<[object, string[], unknown]>([
    [{ groups: ['a', 'b'] }, ['groups'], ['a', 'b']],
    [{ groups: 'a' }, ['groups'], ['a']],
    [{ groups: ['a', 7, null, ['b'], { c: 1 }] }, ['groups'], ['a']],
    [{ realm_access: { roles: ['a'] } }, ['realm_access', 'roles'], ['a']],
    [{ 'https://example.com/groups': ['a'] }, ['https://example.com/groups'], ['a']],
    [{ groups: [] }, ['groups'], []],
    [{ groups: { a: true } }, ['groups'], null],
    [{ groups: null }, ['groups', 'x'], null],
    [{}, ['groups'], null],
    [{}, ['__proto__'], null],
    [{ groups: 'text' }, ['groups', 'length'], null],
  ])('of %j at %j are %j', (claims, path, groups) => {
    expect(groupsOf(claims as Record<string, unknown>, path)).toEqual(groups);
  });

  test('beyond ten thousand are not read', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `g${index}`);
    expect(groupsOf({ groups: many }, ['groups'])).toHaveLength(10_000);
  });
});

describe('admission', () => {
  test.each<[unknown, string]>([
    [['staff'], 'viewer'],
    [['staff', 'mail-admins', 'helpdesk'], 'admin'],
    [['helpdesk', 'staff'], 'operator'],
    // A group is meant exactly as it is written.
    [['Mail-Admins', '/mail-admins', 'mail-admins '], 'group'],
    [[], 'group'],
    [undefined, 'group'],
    [{ 'mail-admins': true }, 'group'],
    ['mail-admins', 'admin'],
  ])('groups %j give %s', (groups, role) => {
    expect(admit({ groups }, RULES)).toBe(role);
  });

  test('those in no group have the default role, if there is one', () => {
    expect(admit({ groups: ['other'] }, { ...RULES, defaultRole: 'viewer' })).toBe('viewer');
    expect(admit({ groups: ['helpdesk'] }, { ...RULES, defaultRole: 'admin' })).toBe('operator');
  });

  test.each<[object, string]>([
    [{ email: 'ann@Example.COM', email_verified: true }, 'admin'],
    [{ email: 'ann@bücher.example', email_verified: true }, 'admin'],
    [{ email: 'ann@example.com' }, 'email'],
    [{ email: 'ann@example.com', email_verified: 'true' }, 'email'],
    [{ email: 'ann@example.com', email_verified: false }, 'email'],
    [{ email: 'ann@sub.example.com', email_verified: true }, 'email'],
    [{ email: 'example.com', email_verified: true }, 'email'],
    [{ email: 'ann@example.com@evil.example', email_verified: true }, 'email'],
    [{ email: ['ann@example.com'], email_verified: true }, 'email'],
    [{}, 'email'],
  ])('with domains of addresses, %j gives %s', (claims, answer) => {
    const rules = { ...RULES, emailDomains: ['example.com', 'xn--bcher-kva.example'] };
    expect(admit({ ...claims, groups: ['mail-admins'] }, rules)).toBe(answer);
  });

  test('claims suffice once they say what the rules ask for', () => {
    expect(suffices({}, RULES)).toBe(false);
    expect(suffices({ groups: [] }, RULES)).toBe(true);
    expect(suffices({}, { ...RULES, roles: [] })).toBe(true);
    expect(suffices({ groups: [] }, { ...RULES, emailDomains: ['example.com'] })).toBe(false);
    expect(suffices({ groups: [], email: 'a@b.example' }, { ...RULES, emailDomains: ['b.example'] })).toBe(
      true,
    );
  });
});

describe('names', () => {
  test.each<[object, string]>([
    [{ preferred_username: 'Ann', email: 'ann@example.com' }, 'ann'],
    [{ email: 'Ann.B@example.com' }, 'ann.b@example.com'],
    [{ preferred_username: '', name: 'Änne Müller' }, 'anne-muller'],
    [{ preferred_username: '../../etc/passwd' }, 'etc-passwd'],
    [{ preferred_username: 42, name: '王' }, 'user'],
    [{ preferred_username: `a${'b'.repeat(500)}` }, `a${'b'.repeat(47)}`],
    [{}, 'user'],
  ])('of %j begin with %s', (claims, name) => {
    const names = namesFor(claims as Record<string, unknown>);
    expect(names.slice(0, 2)).toEqual([name, `${name}-2`]);
    // As everybody’s (`operations/accounts.ts`).
    for (const one of names) expect(one).toMatch(/^[a-z0-9][a-z0-9._@-]{0,63}$/);
  });
});
