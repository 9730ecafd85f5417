import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { withAndWithoutServer } from '../../test/support/with-server.ts';

let here: Installation;
beforeEach(() => {
  here = new Installation();
});
afterEach(() => here.remove());

const PASSWORD = 'correct horse battery';

withAndWithoutServer(
  () => here,
  () => {
    test('makes the first administrator, and later gives the only one another password', async () => {
      const first = await here.waybill(['admin', 'reset-password'], { answer: PASSWORD });
      expect([first.status, first.out]).toEqual([
        0,
        'The password of admin (admin) is set; earlier sessions have ended.\n',
      ]);
      const again = await here.waybill(['admin', 'reset-password', '--json'], { answer: `${PASSWORD}!` });
      expect(JSON.parse(again.out)).toMatchObject({ name: 'admin', role: 'admin', hasPassword: true });
      const other = await here.waybill(['admin', 'reset-password', 'eve'], { answer: PASSWORD });
      expect([other.status, other.err]).toMatchObject([1, expect.stringContaining('There is no user eve.')]);
      expect(first.out + first.err + again.out + again.err).not.toContain(PASSWORD);
    });

    test('refuses a short password, and asks for one only on a terminal', async () => {
      const short = await here.waybill(['admin', 'reset-password'], { answer: 'eleven char' });
      expect([short.status, short.err]).toMatchObject([
        2,
        expect.stringContaining('The password must have at least 12 characters.'),
      ]);
      const nobody = await here.waybill(['admin', 'reset-password']);
      expect([nobody.status, nobody.err]).toMatchObject([2, expect.stringContaining('--stdin')]);
    });

    test('prints a set-up link for the first administrator, until there is one', async () => {
      const link = await here.waybill(['admin', 'setup-link', '--json']);
      const { name, path, expiresAt } = JSON.parse(link.out);
      expect([link.status, name]).toEqual([0, null]);
      expect(path).toMatch(/^\/setup#[A-Za-z0-9_-]{43}$/);
      expect(Date.parse(expiresAt)).toBeGreaterThan(0);
      await here.waybill(['admin', 'reset-password'], { answer: PASSWORD });
      const late = await here.waybill(['admin', 'setup-link']);
      expect([late.status, late.err]).toMatchObject([1, expect.stringContaining('setup-link NAME')]);
      const named = await here.waybill(['admin', 'setup-link', 'admin']);
      expect([named.status, named.out]).toMatchObject([0, expect.stringContaining('/setup#')]);
      expect((await here.waybill(['admin', 'setup-link', 'eve'])).status).toBe(1);
    });

    test('takes a second factor away', async () => {
      await here.waybill(['keys', 'create', 'shop']);
      const none = await here.waybill(['admin', 'reset-second-factor']);
      expect([none.status, none.err]).toEqual([1, 'There is no user with a password yet.\n']);
      await here.waybill(['admin', 'reset-password'], { answer: PASSWORD });
      const done = await here.waybill(['admin', 'reset-second-factor']);
      expect([done.status, done.out]).toEqual([0, 'admin now signs in by password alone.\n']);
    });
  },
);
