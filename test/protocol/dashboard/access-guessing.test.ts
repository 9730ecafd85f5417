/** Guessing passwords and codes: slowed by account and source, and nobody kept out by what others do. */
import { expect, test, vi } from 'vitest';
import { matchCode, stepAt, totpCode } from '../../../src/accounts/secrets.ts';
import { type Browser, MINUTE, PASSWORD, startAccess } from './access-world.ts';

const STRANGER = '203.0.113.66';
const WRONG = 'a wrong password';

test('a stranger’s sixth wrong password waits, and the owner signs in from elsewhere meanwhile', async () => {
  const { addUser, browser, clock, signIns } = await startAccess();
  await addUser('ann');
  const stranger = browser(STRANGER);
  for (let i = 0; i < 5; i++)
    expect((await stranger.logIn('ann', WRONG)).body.code, `${i}`).toBe('sign_in_refused');
  const slowed = await stranger.logIn('ann', WRONG);
  expect([slowed.status, slowed.body.code, slowed.headers['retry-after']]).toEqual([
    429,
    'sign_in_slowed',
    '1',
  ]);
  // Not even the right one, from there.
  expect((await stranger.logIn('ann')).status).toBe(429);
  expect((await browser('192.0.2.7').logIn('ann')).status).toBe(200);
  await clock.advance(1000);
  expect((await stranger.logIn('ann')).status).toBe(200);
  const results = [...Array(5).fill('refused'), 'slowed', 'slowed', 'done', 'done'];
  expect(signIns).toEqual(results.map((result) => `password ${result}`));
});

test('many sources that try at one account leave its owner a try', async () => {
  const { addUser, browser } = await startAccess();
  await addUser('ann');
  for (let i = 0; i < 60; i++) await browser(`198.51.100.${i}`).logIn('ann', WRONG);
  expect((await browser('192.0.2.7').logIn('ann')).status).toBe(200);
});

test('a source that tries at many names is slowed at all of them; others are not', async () => {
  const { addUser, browser } = await startAccess();
  await addUser('ann');
  const stranger = browser(STRANGER);
  const codes: string[] = [];
  for (let i = 0; i < 33; i++) codes.push((await stranger.logIn(`user${i}`, WRONG)).body.code);
  expect(codes.filter((code) => code === 'sign_in_slowed')).toHaveLength(3);
  expect((await browser('192.0.2.7').logIn('ann')).status).toBe(200);
});

test('an unknown name is refused as a wrong password is, word for word', async () => {
  const { addUser, browser } = await startAccess();
  await addUser('ann');
  const known = await browser('192.0.2.7').logIn('ann', WRONG);
  const unknown = await browser('192.0.2.8').logIn('nobody', WRONG);
  const { requestId: _one, ...first } = known.body as object as { requestId: string };
  const { requestId: _other, ...second } = unknown.body as object as { requestId: string };
  expect([known.status, first]).toEqual([unknown.status, second]);
});

test('the log has no name that was tried; the journal has that of a user there is, and not each time', async () => {
  const { addUser, browser, logged, journal, clock } = await startAccess();
  await addUser('ann');
  const stranger = browser(STRANGER);
  for (let i = 0; i < 5; i++) await stranger.logIn('ann', WRONG);
  await stranger.logIn('bob.the.unknown', WRONG);
  const failures = logged.filter(({ event }) => event === 'sign_in.failed');
  expect(failures.length).toBeGreaterThan(0);
  expect(JSON.stringify(logged)).not.toMatch(/ann|bob/);
  expect(JSON.stringify(logged) + JSON.stringify(await journal())).not.toContain(WRONG);
  await clock.advance(MINUTE);
  await browser('192.0.2.7').logIn('ann');
  await clock.advance(9 * MINUTE);
  await vi.waitFor(async () => expect(await journal()).toHaveLength(4), { timeout: 60_000 });
  const kept = (await journal()).map(({ action, actor, subject, sourceAddress, after }) =>
    [action, actor, subject, sourceAddress, after].join(' '),
  );
  expect(kept).toEqual([
    `signInFailed  ann ${STRANGER} {"guess":"password","tries":4}`,
    'signIn ann ann 192.0.2.7 ',
    `signInFailed   ${STRANGER} {"guess":"password","tries":1}`,
    `signInFailed  ann ${STRANGER} {"guess":"password","tries":1}`,
  ]);
});

test('after a second factor is taken up, the password alone opens nothing', async () => {
  const { addUser, browser, clock, signIns } = await startAccess();
  await addUser('ann');
  const secret = await takeUp(browser(), clock.wall());
  expect(signIns.splice(0)).toEqual(['password done']);
  const one = browser();
  expect((await one.logIn('ann')).body).toEqual({ state: 'second_factor' });
  const half = one.cookie;
  expect((await one.operation('listKeys', {})).status).toBe(401);
  expect((await one.call('totp_remove', { password: PASSWORD })).status).toBe(401);
  expect((await one.call('sessions', {})).status).toBe(401);
  // The code that confirmed it is used up.
  const used = await one.call('second_factor', { code: codeOf(secret, clock.wall()) });
  expect([used.status, used.body.code]).toEqual([401, 'code_refused']);
  await clock.advance(30_000);
  const code = codeOf(secret, clock.wall());
  expect((await one.call('second_factor', { code })).body.state).toBe('signed_in');
  expect(one.cookie).not.toBe(half);
  // A password that still waits for its code is not counted.
  expect(signIns).toEqual(['password refused', 'password done']);
  // Nor is it good for anybody else who saw it.
  const thief = browser(STRANGER);
  await thief.logIn('ann');
  expect((await thief.call('second_factor', { code })).body.code).toBe('code_refused');
  // What the first half was signed in by has ended with it.
  thief.cookie = half;
  await clock.advance(30_000);
  expect((await thief.call('second_factor', { code: codeOf(secret, clock.wall()) })).body.code).toBe(
    'signed_out',
  );
});

test('whoever has only the password ends no session of its owner, is slowed, and is seen', async () => {
  const { addUser, browser, clock, journal } = await startAccess();
  await addUser('ann');
  const owner = browser();
  const secret = await takeUp(owner, clock.wall());
  const stranger = browser(STRANGER);
  const statuses: number[] = [];
  for (let i = 0; i < 7; i++) statuses.push((await stranger.logIn('ann')).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  expect((await owner.session()).body.state).toBe('signed_in');
  const [entry] = await journal();
  expect(entry).toMatchObject({ action: 'secondFactorAsked', subject: 'ann', sourceAddress: STRANGER });
  // Whoever gives the code too is never slowed.
  for (let i = 0; i < 12; i++) {
    await clock.advance(30_000);
    const one = browser('192.0.2.8');
    expect((await one.logIn('ann')).status).toBe(200);
    const code = codeOf(secret, clock.wall());
    expect((await one.call('second_factor', { code })).body.state).toBe('signed_in');
  }
});

test('strangers cannot fill the activity, whatever names they make up', async () => {
  const { addUser, browser, clock, journal } = await startAccess();
  await addUser('ann');
  for (let i = 0; i < 100; i++) await browser(`198.51.100.${i}`).logIn(`user${i}`, WRONG);
  expect(await journal()).toHaveLength(1);
  await clock.advance(10 * MINUTE);
  await vi.waitFor(async () => expect(await journal()).toHaveLength(2), { timeout: 60_000 });
  expect((await journal())[0]).toMatchObject({ subject: '', sourceAddress: null });
  expect((await journal())[0]?.after).toBe('{"guess":"password","tries":99}');
});

test('a recovery code works once, however it is typed, and is counted', async () => {
  const { addUser, browser, clock } = await startAccess();
  await addUser('ann');
  const codes: string[] = [];
  await takeUp(browser(), clock.wall(), codes);
  expect(new Set(codes).size).toBe(10);
  const [first = ''] = codes;
  const one = browser();
  await one.logIn('ann');
  const { body } = await one.call('second_factor', { code: first.toUpperCase().replaceAll('-', ' ') });
  expect(body).toMatchObject({ state: 'signed_in', user: { secondFactor: true, recoveryCodesLeft: 9 } });
  const again = browser();
  await again.logIn('ann');
  expect((await again.call('second_factor', { code: first })).body.code).toBe('code_refused');
  expect((await again.call('second_factor', { code: codes[1] ?? '' })).status).toBe(200);
});

test('five wrong codes end a sign-in: the password is asked for anew', async () => {
  const { addUser, browser, clock } = await startAccess();
  await addUser('ann');
  const secret = await takeUp(browser(), clock.wall());
  const one = browser();
  await one.logIn('ann');
  const wrong = wrongCode(secret, clock.wall());
  for (let i = 0; i < 5; i++) {
    expect((await one.call('second_factor', { code: wrong })).body.code).toBe('code_refused');
    await clock.advance(1000);
  }
  expect((await one.call('second_factor', { code: codeOf(secret, clock.wall()) })).body.code).toBe(
    'signed_out',
  );
  expect((await one.session()).body.state).toBe('anonymous');
});

test('a code must come within ten minutes of the password', async () => {
  const { addUser, browser, clock } = await startAccess();
  await addUser('ann');
  const secret = await takeUp(browser(), clock.wall());
  const one = browser();
  await one.logIn('ann');
  await clock.advance(10 * MINUTE);
  expect((await one.call('second_factor', { code: codeOf(secret, clock.wall()) })).body.code).toBe(
    'signed_out',
  );
});

test('a second factor is offered and given up only by the password, and taken up only by a code', async () => {
  const { addUser, browser, clock } = await startAccess();
  await addUser('ann');
  const one = browser();
  await one.logIn('ann');
  expect((await one.call('totp_begin', { password: WRONG })).body.code).toBe('password_refused');
  expect((await one.call('totp_confirm', { code: '123456' })).body.code).toBe('second_factor_missing');
  const { body: offer } = await one.call('totp_begin', { password: PASSWORD });
  expect(offer.qr).toHaveLength(offer.qr[0]?.length ?? 0);
  const wrong = wrongCode(offer.secret, clock.wall());
  expect((await one.call('totp_confirm', { code: wrong })).body.code).toBe('code_refused');
  // Nothing has changed until then.
  expect((await browser().logIn('ann')).body.state).toBe('signed_in');
  await one.call('totp_confirm', { code: codeOf(offer.secret, clock.wall()) });
  expect((await one.session()).body).toMatchObject({ user: { secondFactor: true, recoveryCodesLeft: 10 } });
  expect((await one.call('totp_remove', { password: WRONG })).body.code).toBe('password_refused');
  expect((await one.call('totp_remove', { password: PASSWORD })).body).toMatchObject({
    user: { secondFactor: false, recoveryCodesLeft: 0 },
  });
});

test('without the key that secrets are sealed under, recovery codes still work', async () => {
  const { addUser, browser, clock, state } = await startAccess();
  await addUser('ann');
  const codes: string[] = [];
  const secret = await takeUp(browser(), clock.wall(), codes);
  state.box = null;
  await clock.advance(30_000);
  const one = browser();
  await one.logIn('ann');
  const refused = await one.call('second_factor', { code: codeOf(secret, clock.wall()) });
  expect([refused.status, refused.body.code]).toEqual([503, 'second_factor_unreadable']);
  expect((await one.call('second_factor', { code: codes[0] ?? '' })).status).toBe(200);
});

/** Signs `ann` in and takes a second factor up; gives its secret, and the recovery codes into `codes`. */
async function takeUp(one: Browser, now: number, codes: string[] = []): Promise<string> {
  await one.logIn('ann');
  const { body } = await one.call('totp_begin', { password: PASSWORD });
  const confirmed = await one.call('totp_confirm', { code: codeOf(body.secret, now) });
  codes.push(...confirmed.body.recoveryCodes);
  return body.secret;
}

/** The code that an app shows. */
function codeOf(secret: string, now: number): string {
  return totpCode(bytesOf(secret), stepAt(now));
}

function wrongCode(secret: string, now: number): string {
  const codes = Array.from({ length: 9 }, (_, i) => String(i).repeat(6));
  return codes.find((code) => matchCode(secret, code, now) === null) ?? '';
}

function bytesOf(base32: string): Buffer {
  const bits = [...base32].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  return Buffer.from((bits.join('').match(/[01]{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
